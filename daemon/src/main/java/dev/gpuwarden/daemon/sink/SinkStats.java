package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.core.event.Outbox;

/**
 * How a sink is doing.
 *
 * @param refused events that the other side will never take; they were left out
 * @param failures attempts that failed
 * @param lastError empty while the last attempt worked
 */
public record SinkStats(String sink, long sent, long refused, long failures, String lastError, Outbox.Lag lag) {}
