package dev.gpuwarden.aggregator.breaker;

import java.util.OptionalInt;

/**
 * How many nodes of a pool may be out of service.
 *
 * @param percent of the pool's nodes, 0 to 100, rounded up; empty for no such limit
 * @param nodes empty for no such limit; of both the lower one holds
 */
public record Limit(OptionalInt percent, OptionalInt nodes) {

    public Limit {
        if (percent.isEmpty() && nodes.isEmpty()) {
            throw new IllegalArgumentException("expected a percentage, a number of nodes, or both; there is none");
        }
        if (percent.isPresent() && (percent.getAsInt() < 0 || percent.getAsInt() > 100)) {
            throw new IllegalArgumentException("expected a percentage of 0 to 100, found " + percent.getAsInt());
        }
        if (nodes.isPresent() && nodes.getAsInt() < 0) {
            throw new IllegalArgumentException("expected a number of nodes, found " + nodes.getAsInt());
        }
    }

    public static Limit percent(int percent) {
        return new Limit(OptionalInt.of(percent), OptionalInt.empty());
    }

    /** @param total of the pool, at least 1 */
    int allowed(int total) {
        long byPercent = percent.isPresent() ? ((long) total * percent.getAsInt() + 99) / 100 : total;
        return (int) Math.min(byPercent, Math.min(nodes.orElse(total), total));
    }
}
