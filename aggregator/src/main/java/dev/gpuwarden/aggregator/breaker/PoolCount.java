package dev.gpuwarden.aggregator.breaker;

import java.time.Instant;
import java.util.Map;
import java.util.Set;

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
