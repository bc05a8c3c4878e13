package dev.gpuwarden.aggregator.remediation;

import static dev.gpuwarden.aggregator.remediation.RepairScene.GPU_A;
import static dev.gpuwarden.aggregator.remediation.RepairScene.GPU_B;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.aggregator.remediation.RepairDecision.Kind;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ReportedGpus;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Repairs for which nothing was tried, or nothing may be tried: no stronger action follows from them. */
class RefusedRepairTest {

    private static final String RESET_A = "reset-" + GPU_A;

    private final RepairScene scene = new RepairScene();

    private static HealthEvent fault(RecommendedAction action, String... metadata) {
        return HealthEvent.of("gpuwarden", "GPU", "GpuState")
                .nodeName("n")
                .fatal(true)
                .action(action)
                .errorCodes(List.of("gpu-hung"))
                .entities(List.of(Entity.gpu(GPU_A)))
                .metadata(metadata.length == 0 ? Map.of() : Map.of(metadata[0], metadata[1]))
                .build();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GPUNotOnNode",
                "PartOfResetUnit",
                "ResetUnitUnknown",
                "SelectorNotSupported",
                "NodeReplaced",
                "NodeNotFound",
                "Cancelled",
                "BootIDUnknown",
                "JobSuspended"
            })
    void refusalBeforeAnythingBeganIsATaskOfAnOperator(String reason) {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.act()).containsExactly(RESET_A);
        scene.later(10).refuse(MaintenanceKind.GPU_RESET, reason);
        RepairDecision decision = scene.decide();
        assertThat(decision.kind()).isEqualTo(Kind.PERSON);
        assertThat(decision.why())
                .startsWith("Xid 48: find the reason, then repair the node by hand: the reset of " + GPU_A
                        + " (maintenance-n-")
                .endsWith(") was refused before anything was tried: the GPU is in use");
        assertThat(decision.create()).isEmpty();
        assertThat(decision.record().drain()).as("no drain of all pods").isEmpty();
        scene.later(8 * 24 * 3600);
        assertThat(scene.act()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NodeNotDrained",
                "NodeInService",
                "AlreadyInProgress",
                "LockLost",
                "ProviderUnreachable",
                "RefusedOnNode"
            })
    void refusalForAReasonThatEndsByItselfIsDecidedAgain(String reason) {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        for (int attempt = 1; attempt <= RepairRefusals.MOST; attempt++) {
            assertThat(scene.act()).as("attempt " + attempt).containsExactly(RESET_A);
            scene.later(10).refuse(MaintenanceKind.GPU_RESET, reason);
            RepairDecision decision = scene.decide();
            assertThat(decision.create()).isEmpty();
            assertThat(decision.record().drain()).as("no drain of all pods").isEmpty();
            assertThat(decision.kind()).isEqualTo(attempt < RepairRefusals.MOST ? Kind.WAIT : Kind.PERSON);
            scene.later(RepairRefusals.PAUSE.toSeconds());
        }
        assertThat(scene.decide().why()).contains("was refused 3 times in a row before anything was tried");
        assertThat(scene.act()).isEmpty();
    }

    @Test
    void refusedRepairsAreNoAttempts() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.act()).containsExactly(RESET_A);
        scene.later(10).refuse(MaintenanceKind.GPU_RESET, "NodeNotDrained");
        scene.decide();
        for (int attempt = 1; attempt <= scene.policy.attempts(); attempt++) {
            assertThat(scene.later(600).act()).containsExactly(RESET_A);
            scene.later(10).end(MaintenanceKind.GPU_RESET, true);
            scene.decide();
        }
        assertThat(scene.later(600).act()).as("after two that were tried").containsExactly("restart");
        scene.later(10).refuse(MaintenanceKind.REBOOT_NODE, "NodeNotDrained");
        assertThat(scene.decide().kind()).isEqualTo(Kind.WAIT);
        assertThat(scene.later(60).act()).containsExactly("restart");
    }

    @Test
    void resetThatWasTriedStillLeadsToAReboot() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.act()).containsExactly(RESET_A);
        scene.later(10).refuse(MaintenanceKind.GPU_RESET, "ResetJobFailed");
        assertThat(scene.act()).containsExactly("restart");
    }

    @Test
    void aGpuThatTheNodeDoesNotReportIsNeverReset() {
        scene.gpus = TestGpus.ofUnknownUnits(GPU_B);
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        RepairDecision decision = scene.decide();
        assertThat(decision.kind()).isEqualTo(Kind.PERSON);
        assertThat(decision.why())
                .isEqualTo("Xid 48: correct the sender, or find the GPU: expected a GPU of the node, " + GPU_B
                        + ", seen " + GPU_A);
        scene.gpus = ReportedGpus.NONE;
        assertThat(scene.decide().why())
                .isEqualTo("Xid 48: reset its GPU by hand, with gpuwarden gpu-reset on the node: expected " + GPU_A
                        + " in status.gpus of the node's NodeHealth, seen no GPUs");
        assertThat(scene.act()).isEmpty();
        scene.gpus = TestGpus.ofUnknownUnits(GPU_A, GPU_B);
        assertThat(scene.act()).as("reported by now").containsExactly(RESET_A);
    }

    @ParameterizedTest
    @ValueSource(strings = {"COMPONENT_RESET", "RESTART_BM"})
    void heldFaultIsNoReasonForARepair(RecommendedAction action) {
        scene.fault(fault(action, HealthEvent.OUTCOME, "pass"));
        RepairDecision decision = scene.decide();
        assertThat(decision.kind()).isEqualTo(Kind.NONE);
        assertThat(decision.why())
                .isEqualTo(
                        "GpuState gpu-hung is held, since it came and went: its check passes now, so nothing begins");
        assertThat(scene.act()).isEmpty();
        scene.faults.clear();
        scene.fault(fault(action, HealthEvent.OUTCOME, "fail"));
        assertThat(scene.act()).as("it fails again").hasSize(1);
    }

    @Test
    void attemptWithoutAResourceIsWithdrawnWhileItsFaultIsHeld() {
        scene.fault(fault(RecommendedAction.RESTART_BM));
        assertThat(scene.decide().create()).hasSize(1);
        scene.faults.clear();
        scene.fault(fault(RecommendedAction.RESTART_BM, HealthEvent.OUTCOME, "pass"));
        RepairDecision decision = scene.decide();
        assertThat(decision.create()).isEmpty();
        assertThat(decision.record().history()).singleElement().matches(Repair::withdrawn);
    }
}
