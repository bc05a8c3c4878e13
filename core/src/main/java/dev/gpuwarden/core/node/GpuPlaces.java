package dev.gpuwarden.core.node;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** Identities of GPUs that report none, such as a GPU that was lost before it was read. Pure. */
public final class GpuPlaces {

    private GpuPlaces() {}

    /**
     * Returns the node with the certain identities of GPUs that report none. The only GPU without an address gets the
     * only address on the bus that no other GPU has. Its names are those that it had before. If nothing is certain,
     * the node is returned unchanged.
     */
    public static NodeSnapshot located(NodeSnapshot node, KnownGpus known) {
        // The usual case, and this runs for each snapshot.
        if (node.gpus().stream().allMatch(gpu -> reportsItself(gpu.identity()))) {
            return node;
        }
        NodeSnapshot placed = leftOver(node)
                .map(address -> with(node, gpu -> at(gpu, Reading.of(address))))
                .orElse(node);
        return with(
                placed,
                gpu -> known.of(gpu, placed).map(names -> named(gpu, names)).orElse(gpu));
    }

    private static boolean reportsItself(GpuIdentity gpu) {
        return gpu.pci() instanceof Reading.Present<?> && gpu.uuid() instanceof Reading.Present<?>;
    }

    private static Optional<PciAddress> leftOver(NodeSnapshot node) {
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

    private static GpuIdentity at(GpuIdentity gpu, Reading<PciAddress> address) {
        return gpu.pci() instanceof Reading.Present<?>
                ? gpu
                : renamed(gpu, gpu.uuid(), address, gpu.name(), gpu.serial());
    }

    static GpuIdentity named(GpuIdentity gpu, KnownGpus.Known known) {
        return renamed(
                gpu,
                Reading.of(known.uuid()),
                Reading.of(known.pci()),
                orBefore(gpu.name(), known.name()),
                orBefore(gpu.serial(), known.serial()));
    }

    private static Reading<String> orBefore(Reading<String> reported, Optional<String> before) {
        return reported instanceof Reading.Present<?>
                ? reported
                : before.map(Reading::of).orElse(reported);
    }

    private static GpuIdentity renamed(
            GpuIdentity gpu,
            Reading<String> uuid,
            Reading<PciAddress> pci,
            Reading<String> name,
            Reading<String> serial) {
        return new GpuIdentity(
                gpu.index(),
                uuid,
                pci,
                gpu.minor(),
                name,
                serial,
                gpu.vbios(),
                gpu.boardPart(),
                gpu.computeCapability(),
                gpu.numaNode(),
                gpu.migMode(),
                gpu.mig(),
                gpu.nvlinks());
    }

    private static NodeSnapshot with(NodeSnapshot node, UnaryOperator<GpuIdentity> identity) {
        return new NodeSnapshot(
                node.driver(),
                node.pciGpus(),
                node.gpus().stream()
                        .map(gpu -> new GpuSnapshot(
                                identity.apply(gpu.identity()),
                                gpu.state(),
                                gpu.detail(),
                                gpu.frame(),
                                gpu.ageNanos(),
                                gpu.processes(),
                                gpu.processesAgeNanos(),
                                gpu.refusedValues(),
                                gpu.mig()))
                        .toList());
    }
}
