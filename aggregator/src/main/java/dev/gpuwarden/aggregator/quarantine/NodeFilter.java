package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A filter for the nodes that may need work: those with faults, and those with marks of this program. They are few among ten
 * thousand. A change of any other node needs no read and no decision. Thread-safe.
 */
public final class NodeFilter {

    private final Set<String> touched = ConcurrentHashMap.newKeySet();
    private final Set<String> faulty = ConcurrentHashMap.newKeySet();

    /**
     * Records the present state of a Node.
     *
     * @return true if the node must be reconciled; also once after its last reason ended, because a write may be under way
     */
    public boolean node(String name, Optional<CachedNode> node) {
        return change(touched, name, node.filter(QuarantineSummary::touched).isPresent());
    }

    /** Records the present state of a NodeHealth; returns the same as {@link #node}. */
    public boolean health(String name, Optional<Map<String, Object>> health) {
        return change(faulty, name, health.filter(NodeFilter::hasFaults).isPresent());
    }

    private boolean change(Set<String> set, String name, boolean in) {
        boolean before = wants(name);
        boolean unused = in ? set.add(name) : set.remove(name);
        return before || in;
    }

    private boolean wants(String name) {
        return touched.contains(name) || faulty.contains(name);
    }

    /** Returns the names of all nodes that must be reconciled. */
    public Set<String> all() {
        Set<String> all = new HashSet<>(touched);
        all.addAll(faulty);
        return all;
    }

    /** Returns true if the NodeHealth may have faults. Cheaper than a full parse, and wrong only on the safe side. */
    private static boolean hasFaults(Map<String, Object> health) {
        Map<String, Object> status = JsonTrees.object(health, "status");
        return !JsonTrees.objects(status, "faults").isEmpty()
                || !JsonTrees.objects(status, "monitors").isEmpty()
                || JsonTrees.number(status, "unlistedCount") > 0;
    }
}
