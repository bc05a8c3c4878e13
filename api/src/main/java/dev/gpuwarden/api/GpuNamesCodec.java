package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.GpuName;
import dev.gpuwarden.api.v1.GpuNames;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.PartNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The names of a node's GPUs, between node and aggregator. */
public final class GpuNamesCodec {

    /** GPUs of one node; 16 times as many as the largest have. */
    public static final int MOST = 256;

    private static final int LONGEST_UUID = 96;

    private GpuNamesCodec() {}

    /** The first {@value #MOST}; a UUID that the contract has no room for is left out. */
    public static NodeReport report(List<GpuIdentity> gpus) {
        GpuNames.Builder names = GpuNames.newBuilder();
        for (GpuIdentity gpu : gpus.subList(0, Math.min(MOST, gpus.size()))) {
            names.addGpus(GpuName.newBuilder()
                    .setIndex(gpu.index())
                    .setPciAddress(
                            gpu.pci().asOptional().map(PciAddress::toString).orElse(""))
                    .setUuid(gpu.uuid().asOptional().filter(GpuNamesCodec::fits).orElse("")));
        }
        return NodeReport.newBuilder().setGpuNames(names).build();
    }

    /** The names; empty where one of them breaks the contract. */
    public static Optional<PartNames> fromWire(GpuNames wire) {
        if (wire.getGpusCount() > MOST) {
            return Optional.empty();
        }
        List<PartNames.Gpu> gpus = new ArrayList<>();
        for (GpuName gpu : wire.getGpusList()) {
            Optional<PciAddress> pci = PciAddress.parse(gpu.getPciAddress());
            boolean address = pci.isPresent() || gpu.getPciAddress().isEmpty();
            if (gpu.getIndex() < 0 || !address || !fits(gpu.getUuid())) {
                return Optional.empty();
            }
            gpus.add(PartNames.Gpu.of(
                    gpu.getIndex(), pci, Optional.of(gpu.getUuid()).filter(uuid -> !uuid.isEmpty())));
        }
        return Optional.of(new PartNames(gpus));
    }

    private static boolean fits(String uuid) {
        return uuid.length() <= LONGEST_UUID && uuid.chars().allMatch(c -> c > ' ' && c <= '~');
    }
}
