package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import org.junit.jupiter.api.Test;

class GpuMatcherTest {

    private static GpuIdentity gpu(int index, String uuid, int bus) {
        Reading<String> none = Reading.absent(Absence.GPU_LOST, 15, "");
        return new GpuIdentity(
                index,
                uuid.isEmpty() ? none : Reading.of(uuid),
                bus == 0 ? Reading.absent(Absence.GPU_LOST) : Reading.of(new PciAddress(0, bus, 0, 0)),
                Reading.absent(Absence.GPU_LOST),
                none,
                none,
                none,
                none,
                none,
                Reading.absent(Absence.GPU_LOST),
                Reading.absent(Absence.GPU_LOST),
                List.of(),
                Reading.absent(Absence.GPU_LOST));
    }

    @Test
    void uuidsOutweighIndexAndAddress() {
        List<GpuIdentity> known = List.of(gpu(0, "a", 1), gpu(1, "b", 2), gpu(2, "c", 3));
        assertThat(GpuMatcher.match(known, List.of(gpu(0, "c", 1), gpu(1, "a", 2))))
                .containsExactly(2, 0);
    }

    @Test
    void swappedBoardIsAnotherGpu() {
        assertThat(GpuMatcher.match(List.of(gpu(0, "a", 1)), List.of(gpu(0, "x", 1))))
                .containsExactly(-1);
    }

    @Test
    void gpuWithoutUuidMatchesByAddressThenIndex() {
        List<GpuIdentity> known = List.of(gpu(0, "a", 1), gpu(1, "b", 2));
        assertThat(GpuMatcher.match(known, List.of(gpu(0, "a", 1), gpu(1, "", 2))))
                .containsExactly(0, 1);
        assertThat(GpuMatcher.match(known, List.of(gpu(0, "a", 1), gpu(1, "", 0))))
                .containsExactly(0, 1);
        assertThat(GpuMatcher.match(known, List.of(gpu(0, "", 0), gpu(1, "a", 1))))
                .containsExactly(-1, 0);
    }

    @Test
    void lostGpuKeepsItsIdentity() {
        GpuIdentity merged = GpuMatcher.merge(gpu(1, "b", 2), gpu(0, "", 0));
        assertThat(merged.selector()).isEqualTo("b");
        assertThat(merged.index()).isZero();
        assertThat(merged.pci()).isEqualTo(Reading.of(new PciAddress(0, 2, 0, 0)));
    }
}
