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
 * Which GPU sat where, as each last reported it: names for one that reports none now, never readings. A board that was replaced and
 * never reported since has the names of the one before. Immutable.
 *
 * @param gpus one for each address and for each UUID; at most {@value #MOST}
 */
public record KnownGpus(List<Known> gpus) {

    /** No node has more, boards that were replaced included. */
    public static final int MOST = 256;

    public static final KnownGpus NONE = new KnownGpus(List.of());

    /**
     * A GPU as it last reported itself.
     *
     * @param index the driver's, then
     * @param name the product; empty where it never reported one
     * @param serial of the board; empty where it never reported one
     */
    public record Known(int index, PciAddress pci, String uuid, Optional<String> name, Optional<String> serial) {}

    public KnownGpus {
        gpus = List.copyOf(gpus);
    }

    /** These, and what GPUs report of themselves now; this very object where that is nothing new. */
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

    /** The same as identities, in which all else is absent. */
    public List<GpuIdentity> identities() {
        Reading.Absent<?> pending = new Reading.Absent<>(Absence.PENDING, 0, "");
        return gpus.stream()
                .map(gpu -> GpuPlaces.named(GpuIdentity.unknown(gpu.index(), pending), gpu))
                .toList();
    }

    /** What is known of a GPU that does not report all of its names; empty where it reports them, or nothing certain is known. */
    Optional<Known> of(GpuIdentity gpu, NodeSnapshot node) {
        if (gpu.uuid() instanceof Reading.Present<?>) {
            return Optional.empty();
        }
        Optional<Known> known = gpu.pci() instanceof Reading.Present<PciAddress> pci
                ? gpus.stream().filter(each -> each.pci().equals(pci.value())).findFirst()
                : byOrder(gpu.index(), node);
        // Whoever reports this UUID now is that GPU.
        return known.filter(each -> node.gpus().stream()
                .noneMatch(other -> other.identity().uuid().asOptional().equals(Optional.of(each.uuid()))));
    }

    /**
     * The driver's index follows the bus, and changes when a GPU leaves it. It names a GPU only where all others are where they
     * were, and the address is still on the bus and free.
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
