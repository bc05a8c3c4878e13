package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.PartNames;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FaultSummaryTest {

    private static final PartNames NAMES = new PartNames(IntStream.range(0, 8)
            .mapToObj(i -> PartNames.Gpu.of(i, PciAddress.parse("0000:1" + i + ":00.0"), Optional.of("GPU-" + i)))
            .toList());

    private final List<Fault> faults = new ArrayList<>();

    private void raise(String check, boolean fatal, Entity... entities) {
        HealthEvent cause = HealthEvent.of("a", "GPU", check)
                .id(Integer.toString(faults.size()))
                .fatal(fatal)
                .action(fatal ? RecommendedAction.RESTART_BM : RecommendedAction.NONE)
                .entities(List.of(entities))
                .message("it is broken")
                .build();
        cause.keys().forEach(key -> faults.add(new Fault(key, cause, 1, Instant.EPOCH, Instant.EPOCH, 1)));
    }

    private void gpu(String check, int index) {
        raise(check, true, Entity.gpu("GPU-" + index), new Entity(Entity.PCI, "0000:1" + index + ":00"));
    }

    @Test
    void faultUnderTwoNamesIsOneReasonWithOneInstruction() {
        gpu("Lost", 3);
        assertThat(Explanation.named(faults, NAMES)).isEqualTo("Lost on GPU 3 (0000:13:00.0)");
        assertThat(Explanation.each(faults, NAMES))
                .containsExactly("Lost on GPU 3 (0000:13:00.0) since 1970-01-01T00:00:00Z: it is broken (restart-bm)");
        assertThat(Explanation.named(faults, PartNames.NONE))
                .as("of a node that reports no names")
                .isEqualTo("Lost on GPU_UUID GPU-3");
    }

    @Test
    void manyFaultsHideNoPartWithAFatalFault() {
        for (int i = 0; i < 400; i++) {
            raise("Noise" + i, false);
        }
        gpu("Lost", 3);
        gpu("Xid", 2);
        gpu("Later", 3);
        assertThat(FaultSummary.of(faults, NAMES, 1))
                .returns(0, FaultSummary::moreParts)
                .returns(401, FaultSummary::moreFaults)
                .satisfies(summary -> assertThat(summary.lines())
                        .extracting(FaultSummary.Line::text)
                        .containsExactly("Lost on GPU 3 (0000:13:00.0)", "Xid on GPU 2 (0000:12:00.0)"));
        assertThat(Explanation.named(faults, NAMES))
                .isEqualTo("Lost on GPU 3 (0000:13:00.0); Xid on GPU 2 (0000:12:00.0); Noise0; and 400 more");
    }

    @Test
    void partsWithoutALineAreCounted() {
        IntStream.range(0, 8).forEach(index -> gpu("Lost", index));
        assertThat(Explanation.named(faults, NAMES))
                .startsWith("Lost on GPU 0 (0000:10:00.0); ")
                .endsWith("Lost on GPU 3 (0000:13:00.0); 4 more parts with fatal faults; and 4 more");
    }

    @Test
    void partsOfOneEventThatAreNotGpusAreNamedEach() {
        raise("Link", true, new Entity("NIC", "mlx5_0"), new Entity("NIC", "mlx5_1"));
        assertThat(Explanation.named(faults, NAMES)).isEqualTo("Link on NIC mlx5_0; Link on NIC mlx5_1");
    }
}
