package dev.gpuwarden.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.AbsenceCause;
import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReadingCodecTest {

    @ParameterizedTest
    @EnumSource(value = Absence.class, names = "PRESENT", mode = EnumSource.Mode.EXCLUDE)
    void everyCauseOfAbsenceArrives(Absence cause) {
        Reading<String> absent = Reading.absent(cause, 3, "nvmlDeviceGetSerial");
        assertThat(ReadingCodec.text(ReadingCodec.text(absent))).isEqualTo(absent);
        assertThat(ReadingCodec.toWire(cause).name()).isEqualTo("ABSENCE_CAUSE_" + cause.name());
    }

    @Test
    void valuesArriveAndAbsencesAreNotZero() {
        assertThat(ReadingCodec.integer(ReadingCodec.integer(Reading.of(0L)))).isEqualTo(Reading.of(0L));
        assertThat(ReadingCodec.flag(ReadingCodec.flag(Reading.of(false)))).isEqualTo(Reading.of(false));
        assertThat(ReadingCodec.number(ReadingCodec.number(Reading.of(0.0)))).isEqualTo(Reading.of(0.0));
        assertThat(ReadingCodec.fromWire(AbsenceCause.ABSENCE_CAUSE_UNSPECIFIED))
                .isEqualTo(Absence.FAILED);
    }

    @Test
    void everyOutcomeAndVerdictArrives() {
        for (Outcome outcome : Outcome.values()) {
            assertThat(CheckCodec.fromWire(CheckCodec.toWire(outcome))).isEqualTo(outcome);
        }
        for (Verdict verdict : Verdict.values()) {
            assertThat(CheckCodec.fromWire(CheckCodec.toWire(verdict))).isEqualTo(verdict);
        }
    }

    @Test
    void gpuReadingsAreInBaseUnitsOrHaveTheirCause() {
        GpuFrame frame = new GpuFrame();
        frame.put(GpuFrame.slot(GpuMetric.POWER_USAGE), 41_500);
        frame.put(GpuFrame.slot(GpuMetric.MEMORY_USED), 3L << 30);
        frame.putAbsent(GpuFrame.slot(GpuMetric.TEMPERATURE), Absence.GPU_LOST, 15);
        frame.put(GpuFrame.slot(LinkMetric.STATE, 5), 1);
        for (LinkMetric metric : LinkMetric.values()) {
            frame.putAbsent(GpuFrame.slot(metric, 6), Absence.NOT_SUPPORTED, 3);
        }
        Gpu full = GpuCodec.toWire(snapshot(frame), GpuView.GPU_VIEW_FULL);
        assertThat(full.getReadingsList())
                .hasSize(GpuMetric.count())
                .anyMatch(r -> r.getName().equals("power_usage_watts") && r.getValue() == 41.5)
                .anyMatch(r -> r.getName().equals("memory_used_bytes") && r.getValue() == 3L << 30)
                .anyMatch(r -> r.getName().equals("temperature_celsius")
                        && r.getAbsent().getCause() == AbsenceCause.ABSENCE_CAUSE_GPU_LOST
                        && r.getAbsent().getCode() == 15);
        assertThat(full.getLinksList()).singleElement().matches(link -> link.getLink() == 5);
        assertThat(full.getUuid().hasAbsent()).isTrue();

        Gpu basic = GpuCodec.toWire(snapshot(frame), GpuView.GPU_VIEW_BASIC);
        assertThat(basic.getReadingsCount() + basic.getLinksCount()).isZero();
        assertThat(GpuCodec.toWire(snapshot(frame), GpuView.GPU_VIEW_UNSPECIFIED)
                        .getReadingsCount())
                .isEqualTo(GpuMetric.count());
    }

    @ParameterizedTest
    @EnumSource(GpuState.class)
    void everyStateArrives(GpuState state) {
        assertThat(GpuCodec.toWire(state).name()).isEqualTo("GPU_STATE_" + state.name());
    }

    private static GpuSnapshot snapshot(GpuFrame frame) {
        GpuIdentity identity = GpuIdentity.unknown(0, new Reading.Absent<>(Absence.GPU_LOST, 15, ""));
        return new GpuSnapshot(
                identity,
                GpuState.LOST,
                "code 15",
                frame,
                Reading.of(1_000_000L),
                Reading.absent(Absence.PENDING),
                Reading.absent(Absence.PENDING),
                0,
                List.of());
    }
}
