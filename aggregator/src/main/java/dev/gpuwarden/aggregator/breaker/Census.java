package dev.gpuwarden.aggregator.breaker;

import java.util.Set;

/**
 * A pool as it is now.
 *
 * @param total how many nodes it has
 * @param out names of those that are out of service: cordoned by anybody, or quarantined
 */
public record Census(int total, Set<String> out) {
    public Census {
        out = Set.copyOf(out);
    }
}
