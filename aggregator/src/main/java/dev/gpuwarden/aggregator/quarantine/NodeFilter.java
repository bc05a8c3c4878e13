package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.JsonTrees;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which nodes there can be anything to do about: those with faults, and those on which this program has left something. Of ten
 * thousand these are few; about the others nothing needs to be read or decided, whatever changes. Thread-safe.
 */
public final class NodeFilter {

    private final Set<String> touched = ConcurrentHashMap.newKeySet();
    private final Set<String> faulty = ConcurrentHashMap.newKeySet();

    /**
     * A Node is as this now.
     *
     * @return whether it is to be looked at: also where that has just ended, since something may be under way
     */
    public boolean node(String name, Optional<CachedNode> node) {
        return change(touched, name, node.filter(QuarantineSummary::touched).isPresent());
    }

    /** A NodeHealth is as this now; returns the same. */
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

    /** All names that are to be looked at. */
    public Set<String> all() {
        Set<String> all = new HashSet<>(touched);
        all.addAll(faulty);
        return all;
    }

    /** Cheaper than reading it as what it is, and wrong on the safe side. */
    private static boolean hasFaults(Map<String, Object> health) {
        Map<String, Object> status = JsonTrees.object(health, "status");
        return !JsonTrees.objects(status, "faults").isEmpty()
                || !JsonTrees.objects(status, "monitors").isEmpty()
                || JsonTrees.number(status, "unlistedCount") > 0;
    }
}
