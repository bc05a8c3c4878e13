package dev.gpuwarden.core.compute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.WorkReadings.Moment;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.ClockEventReason;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkReadingsTest {

    private static Moment moment(Reading<Long> power, long sm, long celsius, long reasons) {
        return new Moment(
                power,
                Reading.of(sm),
                Reading.absent(Absence.NOT_SUPPORTED, 3, "clock"),
                Reading.of(celsius),
                Reading.of(reasons));
    }

    @Test
    void momentsHaveMedianAndRangeAndAllReasons() {
        WorkReadings readings = WorkReadings.of(List.of(
                moment(Reading.of(300_000L), 1980, 50, 0x1),
                moment(Reading.absent(Absence.FAILED), 1200, 61, 0x40),
                moment(Reading.of(100_000L), 1980, 60, 0x4)));
        assertThat(readings.watts()).isEqualTo(Reading.of(new Spread(200, 100, 300, 2)));
        assertThat(readings.smMegahertz()).isEqualTo(Reading.of(new Spread(1980, 1200, 1980, 3)));
        assertThat(readings.memoryMegahertz()).isEqualTo(Reading.absent(Absence.NOT_SUPPORTED, 3, "clock"));
        assertThat(readings.reasons())
                .containsExactly(ClockEventReason.SW_POWER_CAP, ClockEventReason.HW_THERMAL_SLOWDOWN);
        assertThat(readings.text())
                .isEqualTo("200 W, SM 1980 MHz, 60 C, clocks held down by sw_power_cap, hw_thermal_slowdown");
    }

    @Test
    void withoutMomentsEverythingIsPending() {
        WorkReadings none = WorkReadings.of(List.of());
        assertThat(none.watts()).isInstanceOf(Reading.Absent.class);
        assertThat(none.text()).isEmpty();
    }
}
