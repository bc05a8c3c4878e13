package dev.gpuwarden.core.node;

import static dev.gpuwarden.core.health.Snapshots.gpu;
import static dev.gpuwarden.core.health.Snapshots.healthy;
import static dev.gpuwarden.core.health.Snapshots.running;
import static dev.gpuwarden.core.health.Snapshots.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.GpuAnswers;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Instructions for a reset, which name a GPU as `gpuwarden gpu-reset` takes it. */
class PartNamesTest {

    private static final HealthEvent FAULT = event(Entity.gpu(uuid(1)));

    private static HealthEvent event(Entity... entities) {
        return HealthEvent.of("a", "GPU", "c")
                .action(RecommendedAction.COMPONENT_RESET)
                .entities(List.of(entities))
                .build();
    }

    @Test
    void anIndexIsNamedWhileEachGpuHasItsPlace() {
        assertThat(PartNames.of(running(2, healthy(0), healthy(1))).advice(FAULT))
                .isEqualTo("reset GPU 1: sudo gpuwarden gpu-reset 1 --arm"
                        + " (without --arm it shows the steps and who holds it)");
        // The next program that opens the driver can find GPU 1 as GPU 0.
        assertThat(PartNames.of(running(2, gpu(0, GpuState.LOST, frame -> {}), healthy(1)))
                        .advice(FAULT))
                .startsWith("reset GPU 1: sudo gpuwarden gpu-reset " + uuid(1) + " --arm (");
        assertThat(PartNames.NONE.advice(FAULT)).startsWith("reset " + uuid(1) + ": sudo gpuwarden gpu-reset ");
        assertThat(PartNames.NONE.advice(event())).isEqualTo("stop what uses the part, then reset it");
    }

    @Test
    void inAClusterThePodsLeaveFirst() {
        PartNames names = new PartNames(List.of(new PartNames.Gpu(
                "GPU 1 (0000:11:00.0)", Set.of(new Entity(Entity.PCI, "0000:11:00"), Entity.gpu("GPU-b")))));
        for (Entity entity : List.of(Entity.gpu("GPU-b"), new Entity(Entity.PCI, "0000:11:00"))) {
            assertThat(names.adviceOn("node-2", event(entity)))
                    .isEqualTo(
                            "gpuwarden drain node-2 --gpu GPU-b, then on node-2: reset GPU 1: sudo gpuwarden gpu-reset"
                                    + " GPU-b --arm (without --arm it shows the steps and who holds it)");
        }
        assertThat(PartNames.NONE.adviceOn("node-2", event(new Entity(Entity.PCI, "0000:11:00"))))
                .startsWith("gpuwarden drain node-2, then on node-2: reset GPU 0000:11:00: sudo gpuwarden");
        assertThat(names.adviceOn("node-2", event())).isEqualTo("stop what uses the part, then reset it");
    }

    @Test
    void theCheckPrintsTheSameInstructionAsTheFault() {
        String remedy = GpuAnswers.judge(running(1, gpu(0, GpuState.RESET_REQUIRED, frame -> {})))
                .get(0)
                .remedy();
        assertThat(remedy).startsWith("reset GPU 0: sudo gpuwarden gpu-reset 0 --arm (");
        assertThat(ActionText.isReset(remedy)).isTrue();
        assertThat(ActionText.isReset("reset the GPU when it is idle")).isFalse();
    }
}
