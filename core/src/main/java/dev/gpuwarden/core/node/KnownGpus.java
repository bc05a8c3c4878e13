package dev.gpuwarden.core.node;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The identities that GPUs last reported, by place: names for a GPU that reports none now, never readings. A replaced
 * board that has not reported since has the names of the board before. Immutable.
 *
 * @param gpus one for each address and for each UUID; at most {@value #MOST}
 */
public record KnownGpus(List<Known> gpus) {

    /** Limit on GPUs; no node has more, even with replaced boards. */
    public static final int MOST = 256;

    public static final KnownGpus NONE = new KnownGpus(List.of());

    /**
     * The last reported identity of a GPU.
     *
     * @param index the driver's index at that time
     * @param name the product; empty where it was never reported
     * @param serial of the board; empty where it was never reported
     */
    public record Known(int index, PciAddress pci, String uuid, Optional<String> name, Optional<String> serial) {}

    public KnownGpus {
        gpus = List.copyOf(gpus);
    }

    /** Returns these identities with those that GPUs report now; this object where nothing is new. */
    public KnownGpus with(NodeSnapshot node) {
        KnownGpus known = this;
        for (GpuSnapshot gpu : node.gpus()) {
            if (gpu.identity().pci() instanceof Reading.Present<PciAddress> pci
                    && gpu.identity().uuid() instanceof Reading.Present<String> uuid) {
                known = known.with(gpu.identity(), pci.value(), uuid.value());
            }
        }
        return known;
    }

    private KnownGpus with(GpuIdentity gpu, PciAddress pci, String uuid) {
        Optional<Known> before =
                gpus.stream().filter(known -> known.uuid().equals(uuid)).findFirst();
        Known now = new Known(
                gpu.index(),
                pci,
                uuid,
                gpu.name().asOptional().or(() -> before.flatMap(Known::name)),
                gpu.serial().asOptional().or(() -> before.flatMap(Known::serial)));
        if (before.isPresent() && before.get().equals(now)) {
            return this;
        }
        List<Known> all = new ArrayList<>(gpus);
        all.removeIf(known -> known.uuid().equals(uuid) || known.pci().equals(pci));
        all.add(now);
        return new KnownGpus(all.size() <= MOST ? all : all.subList(all.size() - MOST, all.size()));
    }

    /** Returns the same GPUs as identities, in which all else is absent. */
    public List<GpuIdentity> identities() {
        Reading.Absent<?> pending = new Reading.Absent<>(Absence.PENDING, 0, "");
        return gpus.stream()
                .map(gpu -> GpuPlaces.named(GpuIdentity.unknown(gpu.index(), pending), gpu))
                .toList();
    }

    /**
     * Returns the known identity of a GPU that reports an incomplete one; empty where its identity is complete or
     * nothing certain is known.
     */
    Optional<Known> of(GpuIdentity gpu, NodeSnapshot node) {
        if (gpu.uuid() instanceof Reading.Present<?>) {
            return Optional.empty();
        }
        Optional<Known> known = gpu.pci() instanceof Reading.Present<PciAddress> pci
                ? gpus.stream().filter(each -> each.pci().equals(pci.value())).findFirst()
                : byOrder(gpu.index(), node);
        // The GPU that reports this UUID now is that GPU.
        return known.filter(each -> node.gpus().stream()
                .noneMatch(other -> other.identity().uuid().asOptional().equals(Optional.of(each.uuid()))));
    }

    /**
     * Returns the GPU by the driver's index, which follows the bus and changes when a GPU leaves it. The index
     * identifies a GPU only where all others kept their places, and the address is still on the bus and free.
     */
    private Optional<Known> byOrder(int index, NodeSnapshot node) {
        List<Known> named =
                gpus.stream().filter(known -> known.index() == index).toList();
        if (named.size() != 1) {
            return Optional.empty();
        }
        Known known = named.get(0);
        Set<PciAddress> claimed = node.gpus().stream()
                .flatMap(gpu -> gpu.identity().pci().asOptional().stream())
                .collect(Collectors.toSet());
        boolean sameOrder = node.gpus().stream()
                .map(GpuSnapshot::identity)
                .allMatch(other -> other.pci().asOptional().stream()
                        .allMatch(pci -> gpus.stream()
                                .anyMatch(each -> each.index() == other.index()
                                        && each.pci().equals(pci))));
        boolean onBus = node.pciGpus()
                .asOptional()
                .map(bus -> bus.contains(known.pci()))
                .orElse(false);
        return sameOrder && onBus && !claimed.contains(known.pci())
                ? named.stream().findFirst()
                : Optional.empty();
    }
}
