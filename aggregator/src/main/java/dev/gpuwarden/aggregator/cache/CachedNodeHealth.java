package dev.gpuwarden.aggregator.cache;

import java.time.Instant;
import java.util.Map;

/**
 * A NodeHealth as the API server had it.
 *
 * @param heard when it came here
 * @param answered whether it was the answer to a request, so that it was the newest then; else a watch told it, which may have been
 *     away and tell first what it missed
 */
public record CachedNodeHealth(Map<String, Object> tree, Instant heard, boolean answered) {}
