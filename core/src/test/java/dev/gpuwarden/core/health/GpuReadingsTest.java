package dev.gpuwarden.core.health;

import static dev.gpuwarden.core.health.Snapshots.gpu;
import static dev.gpuwarden.core.health.Snapshots.healthy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuReadingsTest {

    @ParameterizedTest
    @CsvSource({"FAILED,999,gpu-unreadable", "STALE,0,gpu-stale", "NO_PERMISSION,4,gpu-unreadable"})
    void gpuWithoutReadingsIsSkipped(Absence cause, int code, String expected) {
        Finding finding = GpuReadings.judge(gpu(0, GpuState.ANSWERING, frame -> {
            for (int i = 0; i < GpuMetric.count(); i++) {
                frame.putAbsent(i, cause, code);
            }
        }));
        assertThat(finding.code()).isEqualTo(expected);
        assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
    }

    @Test
    void implausibleLibraryIsNamedAndUndecided() {
        Finding finding = GpuReadings.judge(gpu(
                0,
                GpuState.ANSWERING,
                frame -> frame.putAbsent(GpuFrame.slot(GpuMetric.UTILIZATION_GPU), Absence.IMPLAUSIBLE, 0)));
        assertThat(finding.code()).isEqualTo("implausible-values");
        assertThat(finding.outcome()).isEqualTo(Outcome.WARN);
        assertThat(finding.message()).endsWith("utilization");
    }

    @Test
    void gpuWithReadingsPasses() {
        assertThat(GpuReadings.judge(healthy(0)).outcome()).isEqualTo(Outcome.PASS);
    }
}
