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
 * Counts the nodes of each pool, as they change: all, those out of service, and when each was let through, of which the Node
 * itself is the record. Those that are being written count as written. Thread-safe.
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

    /** A Node is as this now, or gone. */
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

    /** Until {@link #settled} it counts as taken out of service then. */
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

    /** By name of the pool, as it is now and becomes: for who knows that nothing changes meanwhile. */
    public Map<String, PoolCount> census() {
        Map<String, PoolCount> census = new HashMap<>();
        counts.forEach((name, count) -> census.put(name, count.census()));
        return census;
    }

    /** As it is now, and stays. */
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

    /** The same for who does not know; nothing changes until the question is answered. */
    synchronized <T> T ask(Function<Map<String, PoolCount>, T> question) {
        return question.apply(census());
    }

    /**
     * How a pool stands.
     *
     * @param total how many nodes it has
     * @param outOfService how many of them are, whoever took them out
     */
    public record Standing(int total, int outOfService) {}

    /** By name of the pool. */
    public Map<String, Standing> standing() {
        return ask(all -> {
            Map<String, Standing> standing = new HashMap<>();
            all.forEach((name, census) -> standing.put(name, new Standing(census.total(), census.outOfService())));
            return standing;
        });
    }

    /**
     * A pool as it is now. Nothing is copied, since it may have thousands of nodes and is asked for each: it must stand still
     * meanwhile.
     *
     * @param total how many nodes it has
     * @param out names of those that are out of service: cordoned by anybody, or quarantined
     * @param letThrough when each of its nodes was let through last
     * @param passing those of its nodes that are about to be taken out of service, and since when; few, and more recent than what
     *     else is said of them
     */
    public record PoolCount(int total, Set<String> out, Map<String, Instant> letThrough, Map<String, Instant> passing) {

        /** How many are out of service, or about to be. */
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

        /** How many were let through from then on. */
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
