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
}
