package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.core.node.ResetUnits;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The GPUs of an operator's drain. Pure.
 *
 * @param gpus UUIDs of all GPUs whose pods leave; empty for all pods
 * @param added UUIDs of those that were not requested, and can only be reset together with others
 * @param notes for the operator: each GPU that was added, and each whose reset unit is unknown
 */
record DrainScope(SortedSet<String> gpus, SortedSet<String> added, List<String> notes) {

    /**
     * @param requested UUIDs; empty for all pods
     * @param unread the reason why the node's report cannot be read; empty if it was read
     */
    static DrainScope of(String node, Set<String> requested, ResetUnits units, String unread) {
        SortedSet<String> gpus = units.widened(requested);
        SortedSet<String> added = new TreeSet<>(gpus);
        added.removeAll(requested);
        List<String> notes = new ArrayList<>();
        for (String gpu : new TreeSet<>(requested)) {
            Set<String> others = new TreeSet<>(units.of(gpu).orElse(Set.of()));
            others.removeAll(requested);
            if (!others.isEmpty()) {
                notes.add(gpu + " can only be reset together with " + String.join(", ", others)
                        + ": pods that hold those leave too");
            } else if (units.of(gpu).isEmpty()) {
                String why = units.whole()
                        ? node + " does not report them"
                        : "the report of " + node + " has no room for all GPUs";
                notes.add("the GPUs that are reset together with " + gpu + " are unknown, since "
                        + (unread.isEmpty() ? why : unread) + ": only its own pods leave");
            }
        }
        return new DrainScope(gpus, added, List.copyOf(notes));
    }
}
