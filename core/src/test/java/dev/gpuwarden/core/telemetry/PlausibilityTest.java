package dev.gpuwarden.core.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlausibilityTest {

    private final GpuFrame frame = new GpuFrame();

    private void put(GpuMetric metric, long raw) {
        frame.put(GpuFrame.slot(metric), raw);
    }

    @ParameterizedTest
    @CsvSource({
        "UTILIZATION_GPU, 808334905", // seen in the field, dcgm-exporter issue 418
        "UTILIZATION_GPU, 4294967295",
        "TEMPERATURE, 255",
        "POWER_USAGE, -1",
        "PERFORMANCE_STATE, 33",
        "MEMORY_TOTAL, -4096",
        "RECOVERY_ACTION, 16"
    })
    void refusesImpossibleValues(GpuMetric metric, long raw) {
        put(metric, raw);
        assertThat(Plausibility.refuse(frame, Cadence.FAST)).isEqualTo(1);
        assertThat(frame.absence(GpuFrame.slot(metric))).isEqualTo(Absence.IMPLAUSIBLE);
    }

    @Test
    void keepsPossibleValues() {
        put(GpuMetric.TEMPERATURE, -5);
        put(GpuMetric.UTILIZATION_GPU, 100);
        put(GpuMetric.MEMORY_TOTAL, 100);
        put(GpuMetric.MEMORY_USED, 100);
        assertThat(Plausibility.refuse(frame, Cadence.FAST)).isZero();
        assertThat(frame.raw(GpuMetric.MEMORY_USED)).isEqualTo(100);
    }

    @Test
    void refusesMoreMemoryInUseThanThereIs() {
        put(GpuMetric.MEMORY_TOTAL, 100);
        put(GpuMetric.MEMORY_USED, 101);
        put(GpuMetric.MEMORY_FREE, 0);
        assertThat(Plausibility.refuse(frame, Cadence.FAST)).isEqualTo(1);
        assertThat(frame.present(GpuMetric.MEMORY_USED)).isFalse();
        assertThat(frame.present(GpuMetric.MEMORY_FREE)).isTrue();
    }

    @Test
    void leavesTheOtherCadenceAlone() {
        put(GpuMetric.CLOCK_SM, 4_000_000);
        int link = GpuFrame.slot(LinkMetric.STATE, 17);
        frame.put(link, 9);
        assertThat(Plausibility.refuse(frame, Cadence.FAST)).isZero();
        assertThat(Plausibility.refuse(frame, Cadence.SLOW)).isEqualTo(2);
        assertThat(frame.absence(link)).isEqualTo(Absence.IMPLAUSIBLE);
    }

    @Test
    void gpuWithoutFabricHasNoFabricValues() {
        put(GpuMetric.FABRIC_STATE, 0);
        put(GpuMetric.FABRIC_STATUS, 0);
        put(GpuMetric.FABRIC_CLIQUE, 0);
        put(GpuMetric.FABRIC_HEALTH_MASK, 0);
        put(GpuMetric.FABRIC_HEALTH_SUMMARY, 0);
        assertThat(Plausibility.refuse(frame, Cadence.SLOW)).isZero();
        assertThat(frame.present(GpuMetric.FABRIC_STATE)).isTrue();
        for (GpuMetric place : new GpuMetric[] {
            GpuMetric.FABRIC_STATUS,
            GpuMetric.FABRIC_CLIQUE,
            GpuMetric.FABRIC_HEALTH_MASK,
            GpuMetric.FABRIC_HEALTH_SUMMARY
        }) {
            assertThat(frame.absence(GpuFrame.slot(place))).isEqualTo(Absence.NOT_SUPPORTED);
        }
    }

    @Test
    void cliqueZeroOfAFabricIsValid() {
        put(GpuMetric.FABRIC_STATE, 3);
        put(GpuMetric.FABRIC_CLIQUE, 0);
        assertThat(Plausibility.refuse(frame, Cadence.SLOW)).isZero();
        assertThat(frame.present(GpuMetric.FABRIC_CLIQUE)).isTrue();
    }
}
