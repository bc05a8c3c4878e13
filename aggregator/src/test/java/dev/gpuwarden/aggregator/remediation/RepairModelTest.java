package dev.gpuwarden.aggregator.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Random sequences of faults, recoveries, results, approvals, kills, obstacles, changes by hand and of the
 * file of templates: the program and
 * {@link RepairModel} make the same resources at each step.
 *
 * <p>{@code -Dgpuwarden.repair.sequences=100000} runs more, {@code -Dgpuwarden.repair.seed} others.
 */
class RepairModelTest {

    private static final int SEQUENCES = Integer.getInteger("gpuwarden.repair.sequences", 1_000);
    private static final long SEED = Long.getLong("gpuwarden.repair.seed", 1);

    @Test
    void randomSequencesLikeTheModel() {
        Map<String, Integer> made = new TreeMap<>();
        for (int i = 0; i < SEQUENCES; i++) {
            new RepairSequence(SEED + i).run(made);
        }
        // Without these the sequences prove little.
        assertThat(made)
                .containsOnlyKeys(
                        "restart",
                        "reset-a",
                        "reset-b",
                        "reset-a+b",
                        "reset-c",
                        "boot",
                        "ticket",
                        "ticket of one",
                        "ticket of two",
                        "fix",
                        "fix of one",
                        "fix of two",
                        "vendor",
                        "vendor of one",
                        "vendor of two",
                        RepairSequence.AGAIN,
                        RepairSequence.ASKS,
                        RepairSequence.UNLOCKS);
        assertThat(made.values()).as(made::toString).allMatch(count -> count >= SEQUENCES / 500);
    }
}
