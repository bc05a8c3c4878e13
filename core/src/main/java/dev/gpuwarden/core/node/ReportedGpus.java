package dev.gpuwarden.core.node;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.model.PciAddress;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The GPUs of a node as it reports them to its cluster, by index. Pure.
 *
 * @param unlisted number of further GPUs without room, and of GPUs whose reset unit had none; empty if an older version filled the
 *     list and did not count
 */
public record ReportedGpus(List<Gpu> gpus, OptionalLong unlisted) {

    /** The node's version reports none, or it has none. */
    public static final ReportedGpus NONE = new ReportedGpus(List.of());

    /**
     * A GPU.
     *
     * @param resetWith UUIDs of the other GPUs of its reset unit; empty if the unit is unknown
     */
    public record Gpu(
            int index, Optional<PciAddress> pci, Optional<String> uuid, Optional<SortedSet<String>> resetWith) {

        public Gpu {
            uuid = uuid.map(Identifiers::gpu);
            resetWith = resetWith.map(others -> Collections.unmodifiableSortedSet(Identifiers.gpus(others)));
        }
    }

    public ReportedGpus {
        gpus = List.copyOf(gpus);
    }

    /** Creates a list of all GPUs. */
    public ReportedGpus(List<Gpu> gpus) {
        this(gpus, OptionalLong.of(0));
    }

    /** @param identities all GPUs of the node */
    public static ReportedGpus of(List<GpuIdentity> identities) {
        ResetUnits units = ResetUnitRule.units(identities);
        return new ReportedGpus(identities.stream()
                .map(gpu -> new Gpu(
                        gpu.index(),
                        gpu.pci().asOptional(),
                        gpu.uuid().asOptional(),
                        gpu.uuid().asOptional().flatMap(uuid -> units.of(uuid).map(unit -> without(unit, uuid)))))
                .toList());
    }

    private static SortedSet<String> without(Set<String> unit, String uuid) {
        SortedSet<String> others = new TreeSet<>(unit);
        others.remove(uuid);
        return others;
    }

    /** Returns their names for messages. */
    public PartNames names() {
        return new PartNames(gpus.stream()
                .map(gpu -> PartNames.Gpu.of(gpu.index(), gpu.pci(), gpu.uuid()))
                .toList());
    }

    /**
     * Returns those of these UUIDs that no GPU of the node has. Empty if the list proves nothing: it has no GPU, or no room for all,
     * or a GPU without a UUID.
     */
    public SortedSet<String> missing(Collection<String> uuids) {
        boolean proof = !gpus.isEmpty()
                && unlisted.equals(OptionalLong.of(0))
                && gpus.stream().allMatch(gpu -> gpu.uuid().isPresent());
        return proof ? unknown(uuids) : new TreeSet<>();
    }

    /** Returns those of these UUIDs that no GPU in the list has. The node may have it, and had no room for it. */
    public SortedSet<String> unknown(Collection<String> uuids) {
        SortedSet<String> left = Identifiers.gpus(uuids);
        gpus.forEach(gpu -> gpu.uuid().ifPresent(left::remove));
        return left;
    }

    public ResetUnits units() {
        Map<String, Set<String>> units = new HashMap<>();
        for (Gpu gpu : gpus) {
            if (gpu.uuid().isPresent() && gpu.resetWith().isPresent()) {
                Set<String> unit = new TreeSet<>(gpu.resetWith().get());
                unit.add(gpu.uuid().get());
                units.put(gpu.uuid().get(), unit);
            }
        }
        return new ResetUnits(units, unlisted.isPresent() && unlisted.getAsLong() == 0);
    }
}
