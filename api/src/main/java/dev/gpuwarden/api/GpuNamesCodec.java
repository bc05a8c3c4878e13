package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.GpuName;
import dev.gpuwarden.api.v1.GpuNames;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.ResetUnit;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.ReportedGpus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** The names of a node's GPUs, between node and aggregator. */
public final class GpuNamesCodec {

    /** GPUs of one node; 16 times as many as the largest have. */
    public static final int MOST = 256;

    /** Other GPUs of one reset unit; the largest systems have 15. */
    public static final int MOST_OTHERS = 31;

    private static final int LONGEST_UUID = 96;

    private GpuNamesCodec() {}

    /** The first {@value #MOST}. GPUs and reset units without room are counted. A UUID that breaks the contract is left out. */
    public static NodeReport report(List<GpuIdentity> gpus) {
        GpuNames.Builder names = GpuNames.newBuilder();
        List<ReportedGpus.Gpu> all = ReportedGpus.of(gpus).gpus();
        int unlisted = Math.max(0, all.size() - MOST);
        for (ReportedGpus.Gpu gpu : all.subList(0, Math.min(MOST, all.size()))) {
            GpuName.Builder name = GpuName.newBuilder()
                    .setIndex(gpu.index())
                    .setPciAddress(gpu.pci().map(PciAddress::toString).orElse(""))
                    .setUuid(gpu.uuid().filter(GpuNamesCodec::fits).orElse(""));
            Optional<SortedSet<String>> unit = gpu.resetWith().filter(GpuNamesCodec::isUnit);
            unit.ifPresent(others -> name.setResetUnit(ResetUnit.newBuilder().addAllOtherUuids(others)));
            unlisted += gpu.resetWith().isPresent() && unit.isEmpty() ? 1 : 0;
            names.addGpus(name);
        }
        return NodeReport.newBuilder().setGpuNames(names.setUnlisted(unlisted)).build();
    }

    /** The GPUs; empty where one of them breaks the contract. */
    public static Optional<ReportedGpus> fromWire(GpuNames wire) {
        if (wire.getGpusCount() > MOST || wire.getUnlisted() < 0) {
            return Optional.empty();
        }
        List<ReportedGpus.Gpu> gpus = new ArrayList<>();
        for (GpuName gpu : wire.getGpusList()) {
            Optional<PciAddress> pci = PciAddress.parse(gpu.getPciAddress());
            boolean address = pci.isPresent() || gpu.getPciAddress().isEmpty();
            SortedSet<String> others = new TreeSet<>(gpu.getResetUnit().getOtherUuidsList());
            if (gpu.getIndex() < 0 || !address || !fits(gpu.getUuid()) || !isUnit(others)) {
                return Optional.empty();
            }
            gpus.add(new ReportedGpus.Gpu(
                    gpu.getIndex(),
                    pci,
                    Optional.of(gpu.getUuid()).filter(uuid -> !uuid.isEmpty()),
                    gpu.hasResetUnit() ? Optional.of(others) : Optional.empty()));
        }
        boolean counted = wire.hasUnlisted() || gpus.size() < MOST;
        return Optional.of(
                new ReportedGpus(gpus, counted ? OptionalLong.of(wire.getUnlisted()) : OptionalLong.empty()));
    }

    private static boolean isUnit(Set<String> others) {
        return others.size() <= MOST_OTHERS && others.stream().allMatch(uuid -> fits(uuid) && !uuid.isEmpty());
    }

    private static boolean fits(String uuid) {
        return uuid.length() <= LONGEST_UUID && uuid.chars().allMatch(c -> c > ' ' && c <= '~');
    }
}
