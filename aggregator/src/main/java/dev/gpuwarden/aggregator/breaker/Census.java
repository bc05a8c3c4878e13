package dev.gpuwarden.aggregator.breaker;

import java.time.Instant;
import java.util.Map;
import java.util.Set;

/**
 * A pool as it is now. Not copied: it must stand still while the breaker is asked.
 *
 * @param total how many nodes it has
 * @param out names of those that are out of service: cordoned by anybody, or quarantined, or about to be
 * @param letThrough when each of its nodes was let through last, those that are about to be among them
 */
public record Census(int total, Set<String> out, Map<String, Instant> letThrough) {}
