package dev.gpuwarden.core.node;

import static dev.gpuwarden.core.health.Snapshots.anonymous;
import static dev.gpuwarden.core.health.Snapshots.gpu;
import static dev.gpuwarden.core.health.Snapshots.healthy;
import static dev.gpuwarden.core.health.Snapshots.identity;
import static dev.gpuwarden.core.health.Snapshots.running;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A GPU that was lost before its identity was read. */
class KnownGpusTest {

    private static final KnownGpus FOUR =
            KnownGpus.NONE.with(running(4, healthy(0), healthy(1), healthy(2), healthy(3)));

    @Test
    void twoLostGpusHaveTheNamesThatTheyHadBefore() {
        NodeSnapshot node = GpuPlaces.located(running(4, healthy(0), lost(1), healthy(2), lost(3)), FOUR);
        assertThat(node.gpus())
                .extracting(gpu -> gpu.identity().label())
                .containsExactly(
                        "GPU 0 (0000:10:00.0)", "GPU 1 (0000:11:00.0)", "GPU 2 (0000:12:00.0)", "GPU 3 (0000:13:00.0)");
        GpuIdentity lost = node.gpus().get(3).identity();
        assertThat(lost.uuid()).isEqualTo(Reading.of(Snapshots.uuid(3)));
        assertThat(lost.serial()).isEqualTo(Reading.of("1650000000003"));
        assertThat(lost.name()).isEqualTo(identity(3).name());
        assertThat(lost.vbios()).as("a reading").isInstanceOf(Reading.Absent.class);
    }

    @Test
    void theOnlyFreeAddressOfTheBusCountsMoreThanTheOrderOfBefore() {
        NodeSnapshot node = running(4, gpu(at(1, 0, 1), GpuState.ANSWERING, f -> {}), lost(1), healthy(2), healthy(3));
        GpuIdentity lost = GpuPlaces.located(node, FOUR).gpus().get(1).identity();
        assertThat(lost.pci()).isEqualTo(Reading.of(Snapshots.pci(0)));
        assertThat(lost.uuid()).isEqualTo(Reading.of(Snapshots.uuid(0)));
    }

    @Test
    void changedOrderNamesNoGpu() {
        NodeSnapshot node = running(4, lost(0), gpu(at(2, 1, 2), GpuState.ANSWERING, f -> {}), lost(2));
        assertThat(GpuPlaces.located(node, FOUR)).isEqualTo(node);
    }

    @Test
    void aBoardThatWasReplacedIsForgotten() {
        KnownGpus known = FOUR.with(running(4, gpu(at(9, 1, 1), GpuState.ANSWERING, f -> {})));
        assertThat(known.gpus())
                .hasSize(4)
                .extracting(KnownGpus.Known::uuid)
                .contains(Snapshots.uuid(9))
                .doesNotContain(Snapshots.uuid(1));
    }

    @Test
    void nothingNewIsTheSameObject() {
        assertThat(FOUR.with(running(4, healthy(0), lost(1), healthy(2), healthy(3))))
                .isSameAs(FOUR);
    }

    @Test
    void reportingGpuKeepsItsNames() {
        NodeSnapshot node = running(4, healthy(0), healthy(1));
        assertThat(GpuPlaces.located(node, FOUR)).isSameAs(node);
    }

    @Test
    void partsHaveTheirDisplayNames() {
        PartNames names = PartNames.of(GpuPlaces.located(running(4, healthy(0), lost(1), healthy(2), lost(3)), FOUR));
        assertThat(names.of(List.of(Entity.pci(Snapshots.pci(3)), Entity.gpu(Snapshots.uuid(3)))))
                .isEqualTo("GPU 3 (0000:13:00.0)");
        assertThat(names.of(List.of(Entity.gpu(Snapshots.uuid(0)), new Entity("NVLINK", "4"))))
                .isEqualTo("GPU 0 (0000:10:00.0), NVLINK 4");
        assertThat(names.of(List.of(Entity.gpu("GPU-gone")))).isEqualTo("GPU-gone");
        assertThat(names.of(List.of())).isEqualTo("node");
    }

    private static GpuSnapshot lost(int index) {
        return gpu(anonymous(index), GpuState.LOST, frame -> {});
    }

    /** A board under an index, at the place of another one. */
    private static GpuIdentity at(int board, int index, int place) {
        GpuIdentity gpu = identity(board);
        return new GpuIdentity(
                index,
                gpu.uuid(),
                Reading.of(Snapshots.pci(place)),
                gpu.minor(),
                gpu.name(),
                gpu.serial(),
                gpu.vbios(),
                gpu.boardPart(),
                gpu.computeCapability(),
                gpu.numaNode(),
                gpu.migMode(),
                gpu.mig(),
                gpu.nvlinks());
    }
}
