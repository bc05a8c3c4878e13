package dev.gpuwarden.core.node;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Where a GPU is that does not report its PCI address, as one that was lost before it was asked. Pure. */
public final class GpuPlaces {

    private GpuPlaces() {}

    /**
     * The same node, with the address of the one GPU that reports none: the one address on the bus that no other GPU claims. As it
     * was where that is not certain.
     */
    public static NodeSnapshot located(NodeSnapshot node) {
        return leftOver(node)
                .map(address -> new NodeSnapshot(
                        node.driver(),
                        node.pciGpus(),
                        node.gpus().stream().map(gpu -> at(gpu, address)).toList()))
                .orElse(node);
    }

    private static Optional<PciAddress> leftOver(NodeSnapshot node) {
        // Nearly always, and this is done for each snapshot.
        if (node.gpus().stream().allMatch(gpu -> gpu.identity().pci() instanceof Reading.Present<?>)) {
            return Optional.empty();
        }
        TreeSet<PciAddress> unclaimed =
                new TreeSet<>(node.pciGpus().asOptional().orElse(List.of()));
        int withoutAddress = 0;
        for (GpuSnapshot gpu : node.gpus()) {
            if (gpu.identity().pci() instanceof Reading.Present<PciAddress> claimed) {
                unclaimed.remove(claimed.value());
            } else {
                withoutAddress++;
            }
        }
        return withoutAddress == 1 && unclaimed.size() == 1 ? Optional.of(unclaimed.first()) : Optional.empty();
    }

    private static GpuSnapshot at(GpuSnapshot gpu, PciAddress address) {
        GpuIdentity was = gpu.identity();
        if (was.pci() instanceof Reading.Present<?>) {
            return gpu;
        }
        GpuIdentity located = new GpuIdentity(
                was.index(),
                was.uuid(),
                Reading.of(address),
                was.minor(),
                was.name(),
                was.serial(),
                was.vbios(),
                was.boardPart(),
                was.computeCapability(),
                was.numaNode(),
                was.migMode(),
                was.mig());
        return new GpuSnapshot(
                located,
                gpu.state(),
                gpu.detail(),
                gpu.frame(),
                gpu.ageNanos(),
                gpu.processes(),
                gpu.processesAgeNanos(),
                gpu.refusedValues(),
                gpu.mig());
    }
}
