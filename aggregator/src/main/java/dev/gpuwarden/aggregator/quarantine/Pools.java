package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.breaker.Census;
import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Counts the nodes of each pool, as they change: all, those out of service, and when each was let through, of which the Node
 * itself is the record. Those that are being written count as written. Thread-safe.
 */
public final class Pools {

    private final Map<String, Count> counts = new LinkedHashMap<>();
    private final Map<String, Instant> passing = new HashMap<>();

    private static final class Count {
        private final NodeSelector selector;
        private final Set<String> all = new HashSet<>();
        private final Set<String> out = new HashSet<>();
        private final Map<String, Instant> letThrough = new HashMap<>();

        Count(Pool pool) {
            this.selector = pool.selector();
        }
    }

    public Pools(Breaker breaker) {
        breaker.pools().forEach(pool -> counts.put(pool.name(), new Count(pool)));
    }

    /** A Node is as this now, or gone. */
    public synchronized void node(String name, Optional<NodeRead> node) {
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

    static boolean outOfService(NodeRead node) {
        return node.unschedulable() || node.annotations().containsKey(Marks.EVENTS);
    }

    private static Optional<Instant> letThrough(NodeRead node) {
        String text = node.annotations().get(Marks.LET_THROUGH);
        try {
            return Optional.ofNullable(text).map(Instant::parse);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    synchronized void passing(NodeRead node, Instant now) {
        passing.put(node.name(), now);
    }

    synchronized void settled(String node) {
        passing.remove(node);
    }

    /** By name of the pool. */
    public synchronized Map<String, Census> census() {
        Map<String, Census> census = new HashMap<>();
        counts.forEach((name, count) -> {
            Set<String> out = new HashSet<>(count.out);
            Map<String, Instant> letThrough = new HashMap<>(count.letThrough);
            passing.forEach((node, at) -> {
                if (count.all.contains(node)) {
                    out.add(node);
                    letThrough.put(node, at);
                }
            });
            census.put(name, new Census(count.all.size(), out, letThrough));
        });
        return census;
    }
}
