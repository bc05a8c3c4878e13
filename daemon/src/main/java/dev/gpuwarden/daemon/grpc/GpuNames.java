package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** What people call a GPU. Pure. */
final class GpuNames {

    private GpuNames() {}

    /** The GPU with this UUID, PCI address or index. */
    static Optional<GpuSnapshot> find(List<GpuSnapshot> gpus, String name) {
        Optional<PciAddress> address = PciAddress.parse(name);
        return first(
                        gpus,
                        gpu -> gpu.identity()
                                .uuid()
                                .asOptional()
                                .filter(name::equalsIgnoreCase)
                                .isPresent())
                .or(() -> address.flatMap(wanted ->
                        first(gpus, gpu -> gpu.identity().pci().asOptional().equals(Optional.of(wanted)))))
                .or(() -> first(
                        gpus, gpu -> Integer.toString(gpu.identity().index()).equals(name)));
    }

    private static Optional<GpuSnapshot> first(List<GpuSnapshot> gpus, Predicate<GpuSnapshot> condition) {
        return gpus.stream().filter(condition).findFirst();
    }
}
