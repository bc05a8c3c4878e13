package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.janitor.Acceptance.Verdict;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.core.node.ResetUnits;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AcceptanceTest {

    private final JanitorWorld world = new JanitorWorld();

    private Verdict verdict(MaintenanceKind kind) {
        return Acceptance.of(world.scene(world.add(kind), true));
    }

    @Test
    void aPartOfTheGpusThatCanOnlyBeResetTogetherIsRefused() {
        world.units = new ResetUnits(Map.of("GPU-r0", Set.of("GPU-r0", "GPU-r1"), "GPU-r2", Set.of("GPU-r2")));
        assertThat(verdict(MaintenanceKind.GPU_RESET))
                .isEqualTo(new Verdict.Refused(
                        "PartOfResetUnit",
                        "spec.selector.uuids: expected all GPUs that can only be reset together, GPU-r0, GPU-r1, seen"
                                + " GPU-r0"));
        assertThat(verdict(MaintenanceKind.REBOOT_NODE)).isNotInstanceOf(Verdict.Refused.class);
        assertThat(verdict(MaintenanceKind.GPU_RESET)).as("GPU-r2").isNotInstanceOf(Verdict.Refused.class);
        assertThat(verdict(MaintenanceKind.GPU_RESET)).as("of unknown unit").isNotInstanceOf(Verdict.Refused.class);
    }

    @Test
    void aGpuWhoseUnitMayBeMissingInACutListIsRefused() {
        world.units = new ResetUnits(Map.of("GPU-r2", Set.of("GPU-r2")), false);
        assertThat(verdict(MaintenanceKind.GPU_RESET))
                .as("GPU-r0")
                .isInstanceOfSatisfying(Verdict.Refused.class, refused -> {
                    assertThat(refused.reason()).isEqualTo("ResetUnitUnknown");
                    assertThat(refused.message()).contains("GPU-r0", "status.unlistedGpuCount", "gpuwarden gpu-reset");
                });
        assertThat(verdict(MaintenanceKind.REBOOT_NODE)).isNotInstanceOf(Verdict.Refused.class);
        assertThat(verdict(MaintenanceKind.GPU_RESET)).as("GPU-r2").isNotInstanceOf(Verdict.Refused.class);
    }
}
