package dev.gpuwarden.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.GpuName;
import dev.gpuwarden.api.v1.GpuNames;
import dev.gpuwarden.api.v1.ResetUnit;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.NvLinkPeer;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.node.ResetUnits;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GpuNamesCodecTest {

    private static ReportedGpus reported(List<GpuIdentity> gpus) {
        return GpuNamesCodec.fromWire(GpuNamesCodec.report(gpus).getGpuNames()).orElseThrow();
    }

    private static PartNames sent(List<GpuIdentity> gpus) {
        return reported(gpus).names();
    }

    private static GpuIdentity gpu(String uuid) {
        PciAddress pci = PciAddress.parse("0000:5b:00.0").orElseThrow();
        return new KnownGpus(List.of(new KnownGpus.Known(3, pci, uuid, Optional.empty(), Optional.empty())))
                .identities()
                .get(0);
    }

    @Test
    void theOtherSideNamesAGpuAsTheNodeDoes() {
        GpuIdentity nameless = GpuIdentity.unknown(4, new Reading.Absent<>(Absence.GPU_LOST, 15, ""));
        assertThat(sent(List.of(gpu("GPU-c"), nameless)).gpus())
                .containsExactly(PartNames.Gpu.of(gpu("GPU-c")), PartNames.Gpu.of(nameless));
        assertThat(sent(List.of(gpu("GPU-c"))).of(List.of(Entity.gpu("GPU-c"), new Entity("PCI", "0000:5b:00"))))
                .isEqualTo("GPU 3 (0000:5b:00.0)");
    }

    @Test
    void aNodeSendsNothingThatBreaksTheContract() {
        ReportedGpus many = reported(Collections.nCopies(GpuNamesCodec.MOST + 3, gpu("GPU-c")));
        assertThat(many.gpus()).hasSize(GpuNamesCodec.MOST);
        assertThat(many.unlisted()).hasValue(3);
        assertThat(many.units().whole()).isFalse();
        assertThat(sent(List.of(gpu("GPU-\u001b"))).gpus().get(0).names())
                .containsExactlyInAnyOrder(Entity.gpuIndex(3), new Entity("PCI", "0000:5b:00"));
    }

    private static GpuIdentity linked(int index, String capability, int... others) {
        GpuIdentity none = GpuIdentity.unknown(index, new Reading.Absent<>(Absence.GPU_LOST, 15, ""));
        return new GpuIdentity(
                index,
                Reading.of("GPU-" + index),
                Reading.of(new PciAddress(0, index, 0, 0)),
                none.minor(),
                none.name(),
                none.serial(),
                none.vbios(),
                none.boardPart(),
                Reading.of(capability),
                none.numaNode(),
                none.migMode(),
                none.mig(),
                Reading.of(Arrays.stream(others)
                        .mapToObj(other -> new NvLinkPeer(NvLinkPeer.Type.GPU, new PciAddress(0, other, 0, 0)))
                        .toList()));
    }

    @Test
    void theOtherSideGetsTheResetUnits() {
        List<GpuIdentity> gpus = List.of(linked(0, "7.0", 1), linked(1, "7.0", 0), linked(2, "9.0"), gpu("GPU-c"));
        assertThat(reported(gpus)).isEqualTo(ReportedGpus.of(gpus));
        assertThat(reported(gpus).units())
                .isEqualTo(new ResetUnits(Map.of(
                        "GPU-0", Set.of("GPU-0", "GPU-1"),
                        "GPU-1", Set.of("GPU-0", "GPU-1"),
                        "GPU-2", Set.of("GPU-2"),
                        "GPU-c", Set.of("GPU-c"))));
        List<GpuIdentity> ring = IntStream.range(0, GpuNamesCodec.MOST_OTHERS + 2)
                .mapToObj(index -> linked(index, "7.0", 0))
                .toList();
        assertThat(reported(ring).units()).as("too large to send").isEqualTo(new ResetUnits(Map.of(), false));
        assertThat(reported(ring).unlisted()).hasValue(ring.size());
        assertThat(reported(ring.subList(0, GpuNamesCodec.MOST_OTHERS + 1))
                        .units()
                        .byGpu())
                .hasSize(GpuNamesCodec.MOST_OTHERS + 1);
    }

    @Test
    void aFullListOfAnOlderNodeMayBeCut() {
        GpuName name = GpuName.newBuilder().setIndex(1).build();
        GpuNames.Builder older = GpuNames.newBuilder().addAllGpus(Collections.nCopies(GpuNamesCodec.MOST - 1, name));
        assertThat(GpuNamesCodec.fromWire(older.build()).orElseThrow().unlisted())
                .hasValue(0);
        older.addGpus(name);
        assertThat(GpuNamesCodec.fromWire(older.build()).orElseThrow().unlisted())
                .isEmpty();
        assertThat(GpuNamesCodec.fromWire(older.setUnlisted(0).build())
                        .orElseThrow()
                        .unlisted())
                .hasValue(0);
        assertThat(GpuNamesCodec.fromWire(older.setUnlisted(-1).build())).isEmpty();
    }

    @Test
    void namesThatBreakTheContractAreRefused() {
        GpuName good = GpuName.newBuilder().setIndex(1).build();
        GpuNames.Builder many = GpuNames.newBuilder().addAllGpus(Collections.nCopies(GpuNamesCodec.MOST + 1, good));
        assertThat(GpuNamesCodec.fromWire(many.build())).isEmpty();
        for (GpuName bad : List.of(
                good.toBuilder().setIndex(-1).build(),
                good.toBuilder().setPciAddress("there").build(),
                good.toBuilder().setUuid("GPU-\u001b").build(),
                good.toBuilder().setUuid("u".repeat(97)).build(),
                good.toBuilder().setResetUnit(unit(List.of(""))).build(),
                good.toBuilder()
                        .setResetUnit(unit(IntStream.rangeClosed(0, GpuNamesCodec.MOST_OTHERS)
                                .mapToObj(Integer::toString)
                                .toList()))
                        .build())) {
            assertThat(GpuNamesCodec.fromWire(GpuNames.newBuilder().addGpus(bad).build()))
                    .as("%s", bad)
                    .isEmpty();
        }
    }

    private static ResetUnit unit(List<String> others) {
        return ResetUnit.newBuilder().addAllOtherUuids(others).build();
    }
}
