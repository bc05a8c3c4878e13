package dev.gpuwarden.aggregator.breaker;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The counts of each pool's nodes: all, those out of service, and the time at which each was let through. The Node itself is
 * the record of that time. A node that is being written counts as written. Thread-safe.
 */
public final class PoolCounts {

    private final Map<String, Count> counts = new LinkedHashMap<>();

    private static final class Count {
        private final NodeSelector selector;
        private final Set<String> all = new HashSet<>();
        private final Set<String> out = new HashSet<>();
        private final Map<String, Instant> letThrough = new HashMap<>();
        private final Map<String, Instant> passing = new HashMap<>();

        Count(Pool pool) {
            this.selector = pool.selector();
        }

        PoolCount census() {
            return new PoolCount(all.size(), out, letThrough, passing);
        }
    }

    public PoolCounts(BreakerPolicy breaker) {
        breaker.pools().forEach(pool -> counts.put(pool.name(), new Count(pool)));
    }

    /** Replaces the counts of a Node. An empty node was deleted. */
    public synchronized void node(String name, Optional<CachedNode> node) {
        for (Count count : counts.values()) {
            count.all.remove(name);
            count.out.remove(name);
            count.letThrough.remove(name);
            if (node.isPresent() && count.selector.matches(node.get().labels())) {
                count.all.add(name);
                if (outOfService(node.get())) {
                    count.out.add(name);
                }
                letThrough(node.get()).ifPresent(at -> count.letThrough.put(name, at));
            }
        }
    }

    static boolean outOfService(CachedNode node) {
        return node.unschedulable() || node.annotations().containsKey(NodeAnnotations.EVENTS);
    }

    private static Optional<Instant> letThrough(CachedNode node) {
        String text = node.annotations().get(NodeAnnotations.LET_THROUGH);
        try {
            return Optional.ofNullable(text).map(Instant::parse);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** Counts a node as taken out of service at this time, until {@link #settled}. */
    synchronized void passing(CachedNode node, Instant now) {
        for (Count count : counts.values()) {
            if (count.all.contains(node.name())) {
                count.passing.put(node.name(), now);
            }
        }
    }

    synchronized void settled(String node) {
        counts.values().forEach(count -> count.passing.remove(node));
    }

    /** Returns views by name of the pool, which change with the Nodes. For callers that keep the Nodes unchanged during use. */
    public Map<String, PoolCount> census() {
        Map<String, PoolCount> census = new HashMap<>();
        counts.forEach((name, count) -> census.put(name, count.census()));
        return census;
    }

    /** Returns copies by name of the pool, which do not change. */
    public synchronized Map<String, PoolCount> copy() {
        Map<String, PoolCount> copy = new HashMap<>();
        counts.forEach((name, count) -> copy.put(
                name,
                new PoolCount(
                        count.all.size(),
                        Set.copyOf(count.out),
                        Map.copyOf(count.letThrough),
                        Map.copyOf(count.passing))));
        return copy;
    }

    /**
     * Answers a question about the pools that count a node. No count changes until the question is answered. A pool is absent
     * while it has not counted the node: a cache has a new Node a moment before.
     */
    synchronized <T> T ask(String node, Function<Map<String, PoolCount>, T> question) {
        Map<String, PoolCount> census = new HashMap<>();
        counts.forEach((name, count) -> {
            if (count.all.contains(node)) {
                census.put(name, count.census());
            }
        });
        return question.apply(census);
    }

    /**
     * The number of a pool's nodes, and of those out of service.
     *
     * @param total the number of nodes
     * @param outOfService the number of nodes out of service, for any reason
     */
    public record Standing(int total, int outOfService) {}

    /** Returns the counts by name of the pool. */
    public synchronized Map<String, Standing> standing() {
        Map<String, Standing> standing = new HashMap<>();
        census().forEach((name, count) -> standing.put(name, new Standing(count.total(), count.outOfService())));
        return standing;
    }

    /**
     * A view of one pool's counts. Nothing is copied, since a pool may have thousands of nodes and is read for each node. The
     * counts must not change during use.
     *
     * @param total the number of nodes
     * @param out the names of the nodes out of service: cordoned by any user, or quarantined
     * @param letThrough the time at which each node was let through last
     * @param passing the nodes that are about to be taken out of service, with the time of the decision. They are few, and
     *     replace older entries of the same nodes.
     */
    public record PoolCount(int total, Set<String> out, Map<String, Instant> letThrough, Map<String, Instant> passing) {

        /** Returns the number of nodes that are out of service, or about to be. */
        public int outOfService() {
            return out.size()
                    + (int) passing.keySet().stream()
                            .filter(node -> !out.contains(node))
                            .count();
        }

        boolean isOut(String node) {
            return out.contains(node) || passing.containsKey(node);
        }

        boolean passed(String node, Instant from) {
            Instant at = passing.containsKey(node) ? passing.get(node) : letThrough.get(node);
            return at != null && !at.isBefore(from);
        }

        /** Returns the number of nodes that were let through at this time or later. */
        int passed(Instant from) {
            int passed = 0;
            for (Instant at : letThrough.values()) {
                passed += at.isBefore(from) ? 0 : 1;
            }
            for (Map.Entry<String, Instant> now : passing.entrySet()) {
                Instant before = letThrough.get(now.getKey());
                boolean counted = before != null && !before.isBefore(from);
                boolean counts = !now.getValue().isBefore(from);
                passed += counts == counted ? 0 : counts ? 1 : -1;
            }
            return passed;
        }
    }
}
