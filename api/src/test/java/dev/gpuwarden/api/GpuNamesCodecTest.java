package dev.gpuwarden.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.GpuName;
import dev.gpuwarden.api.v1.GpuNames;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.node.PartNames;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GpuNamesCodecTest {

    private static PartNames sent(List<GpuIdentity> gpus) {
        return GpuNamesCodec.fromWire(GpuNamesCodec.report(gpus).getGpuNames()).orElseThrow();
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
        assertThat(sent(Collections.nCopies(GpuNamesCodec.MOST + 1, gpu("GPU-c")))
                        .gpus())
                .hasSize(GpuNamesCodec.MOST);
        assertThat(sent(List.of(gpu("GPU-\u001b"))).gpus().get(0).names())
                .containsExactlyInAnyOrder(Entity.gpuIndex(3), new Entity("PCI", "0000:5b:00"));
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
                good.toBuilder().setUuid("u".repeat(97)).build())) {
            assertThat(GpuNamesCodec.fromWire(GpuNames.newBuilder().addGpus(bad).build()))
                    .as("%s", bad)
                    .isEmpty();
        }
    }
}
