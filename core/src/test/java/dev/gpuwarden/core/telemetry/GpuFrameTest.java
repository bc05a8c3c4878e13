package dev.gpuwarden.core.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GpuFrameTest {

    private final GpuFrame frame = new GpuFrame();

    @Test
    void aNewFrameHasReadNothing() {
        for (int slot = 0; slot < GpuFrame.SLOTS; slot++) {
            assertThat(frame.absence(slot)).isEqualTo(Absence.PENDING);
        }
        assertThat(frame.sampledAtNanos(Cadence.FAST)).isZero();
    }

    @Test
    void everySlotHasItsOwnPlace() {
        Set<Integer> slots = new HashSet<>();
        for (GpuMetric metric : GpuMetric.values()) {
            slots.add(GpuFrame.slot(metric));
        }
        for (int link = 0; link < LinkMetric.MAX_LINKS; link++) {
            for (LinkMetric metric : LinkMetric.values()) {
                slots.add(GpuFrame.slot(metric, link));
            }
        }
        assertThat(slots).hasSize(GpuFrame.SLOTS).contains(0, GpuFrame.SLOTS - 1);
        for (int slot : slots) {
            frame.put(slot, slot * 7L);
        }
        for (int slot : slots) {
            assertThat(frame.raw(slot)).isEqualTo(slot * 7L);
        }
    }

    @Test
    void anAbsenceReplacesAValueAndKeepsItsCode() {
        int slot = GpuFrame.slot(GpuMetric.TEMPERATURE);
        frame.put(slot, 41);
        frame.putAbsent(slot, Absence.GPU_LOST, 15);
        assertThat(frame.reading(GpuMetric.TEMPERATURE)).isEqualTo(Reading.absent(Absence.GPU_LOST, 15, ""));
    }

    @Test
    void aCopyDoesNotChangeWithItsSource() {
        frame.put(GpuFrame.slot(GpuMetric.TEMPERATURE), 41);
        frame.sampled(Cadence.SLOW, 100, 350, 12);
        GpuFrame copy = new GpuFrame();
        copy.copyFrom(frame);
        frame.put(GpuFrame.slot(GpuMetric.TEMPERATURE), 90);
        assertThat(copy.raw(GpuMetric.TEMPERATURE)).isEqualTo(41);
        assertThat(copy.sampledAtNanos(Cadence.SLOW)).isEqualTo(350);
        assertThat(copy.durationNanos(Cadence.SLOW)).isEqualTo(250);
        assertThat(copy.calls()).isEqualTo(12);
    }
}
