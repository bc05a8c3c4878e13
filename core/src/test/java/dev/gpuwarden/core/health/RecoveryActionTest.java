package dev.gpuwarden.core.health;

import static dev.gpuwarden.core.health.Snapshots.gpu;
import static dev.gpuwarden.core.health.Snapshots.healthy;
import static dev.gpuwarden.core.health.Snapshots.running;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecoveryActionTest {

    @ParameterizedTest
    @CsvSource({
        "1,a GPU reset",
        "2,a node reboot",
        "3,draining its peer-to-peer clients",
        "4,draining and a GPU reset",
        "5,recovering the IMEX domain",
        "9,an action that this version does not support"
    })
    void aRecoveryActionIsAFault(int action, String words) {
        NodeSnapshot node = running(
                1, gpu(0, GpuState.ANSWERING, frame -> frame.put(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), action)));
        Finding finding = RecoveryAction.judge(node).get(0);
        assertThat(finding.code()).isEqualTo("recovery-action");
        assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(finding.message()).endsWith("requests " + words + " (" + action + ")");
    }

    @Test
    void noRecoveryActionPasses() {
        assertThat(RecoveryAction.judge(healthy(0)).outcome()).isEqualTo(Outcome.PASS);
    }

    @ParameterizedTest
    @CsvSource({
        "NO_SYMBOL,SKIPPED",
        "NOT_SUPPORTED,SKIPPED",
        "NO_DATA,SKIPPED",
        "IMPLAUSIBLE,UNKNOWN",
        "FAILED,UNKNOWN",
        "NO_PERMISSION,UNKNOWN"
    })
    void aMissingRecoveryActionIsJudgedByItsCause(Absence cause, Outcome outcome) {
        GpuSnapshot gpu = gpu(
                0, GpuState.ANSWERING, frame -> frame.putAbsent(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), cause, 0));
        assertThat(RecoveryAction.judge(gpu).outcome()).isEqualTo(outcome);
    }

    @Test
    void lostGpuMayReportItsRecoveryAction() {
        NodeSnapshot node = running(
                2,
                gpu(0, GpuState.RESET_REQUIRED, frame -> frame.put(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), 1)),
                gpu(
                        1,
                        GpuState.LOST,
                        frame -> frame.putAbsent(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), Absence.GPU_LOST, 15)));
        assertThat(RecoveryAction.judge(node))
                .extracting(Finding::code)
                .containsExactly("recovery-action", "gpu-not-answering");
    }
}
