package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Days on which no allocation within a budget fails. A recycle on them is a false one. */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class BenignDaysTest {

    /** -Dgpuwarden.benign-days=30 is the full run. */
    private static final int DAYS = Integer.getInteger("gpuwarden.benign-days", 1);

    private static final long SEED = Long.getLong("gpuwarden.benign-seed", 810);

    private static final long TICKS_PER_DAY = Duration.ofDays(1).toNanos() / Card.TICK_NANOS;

    @Test
    void noTenantIsRecycled() {
        BenignNode node = new BenignNode(SEED);
        Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
        List<String> recycles = new ArrayList<>();
        for (long i = 0; i < DAYS * TICKS_PER_DAY; i++) {
            Decision decision = node.tick();
            verdicts.merge(decision.verdict(), 1L, Long::sum);
            if (decision.verdict() == Verdict.RECYCLE) {
                recycles.add(node.now() + ": " + decision.reason() + " "
                        + decision.pressure().orElseThrow());
            }
        }
        System.out.println(DAYS + " days, seed " + SEED + ": " + node.nears() + " times near the floor, " + verdicts);
        assertThat(node.allocations.harms()).as("a benign day").isEmpty();
        assertThat(node.nears()).isGreaterThan(DAYS * 1000 / 30);
        assertThat(verdicts).doesNotContainKey(Verdict.BLIND);
        assertThat(recycles).isEmpty();
    }
}
