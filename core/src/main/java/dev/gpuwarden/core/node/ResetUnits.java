package dev.gpuwarden.core.node;

import dev.gpuwarden.core.model.Identifiers;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The reset units of a node: GPUs that can only be reset together. The unit of a GPU may be unknown. Then only nvidia-smi can
 * decide, which refuses a part of a unit. Pure.
 *
 * @param byGpu UUIDs of the unit of each GPU, with its own; a GPU of unknown unit has no entry
 * @param whole false if the list of GPUs had no room for some of the node's GPUs or units
 */
public record ResetUnits(Map<String, Set<String>> byGpu, boolean whole) {

    /** No unit is known. */
    public static final ResetUnits UNKNOWN = new ResetUnits(Map.of());

    public ResetUnits {
        Map<String, Set<String>> sorted = new HashMap<>();
        byGpu.forEach((uuid, unit) ->
                sorted.put(Identifiers.gpu(uuid), Collections.unmodifiableSortedSet(Identifiers.gpus(unit))));
        byGpu = Map.copyOf(sorted);
    }

    /** Creates the units of all GPUs. */
    public ResetUnits(Map<String, Set<String>> byGpu) {
        this(byGpu, true);
    }

    /**
     * Returns true if the unit of one of these GPUs may be among those without room. Such a GPU must not count as alone, and no
     * reset of it may begin.
     */
    public boolean mayMiss(Collection<String> uuids) {
        return !whole && !byGpu.keySet().containsAll(Identifiers.gpus(uuids));
    }

    /** Returns the unit of a GPU, with its own UUID; empty if it is unknown. */
    public Optional<Set<String>> of(String uuid) {
        return Optional.ofNullable(byGpu.get(Identifiers.gpu(uuid)));
    }

    /** Returns these GPUs with all that are reset with them. A GPU of unknown unit counts as alone. */
    public SortedSet<String> widened(Collection<String> uuids) {
        SortedSet<String> named = Identifiers.gpus(uuids);
        SortedSet<String> all = new TreeSet<>(named);
        named.forEach(uuid -> all.addAll(byGpu.getOrDefault(uuid, Set.of())));
        return all;
    }

    /** Returns the GPUs of one reset that reaches all of these; empty if they are of several units, or of one without room. */
    public Optional<SortedSet<String>> common(Collection<String> uuids) {
        if (mayMiss(uuids)) {
            return Optional.empty();
        }
        SortedSet<String> named = Identifiers.gpus(uuids);
        return named.stream()
                .map(gpu -> widened(Set.of(gpu)))
                .filter(unit -> unit.containsAll(named))
                .findFirst();
    }
}
