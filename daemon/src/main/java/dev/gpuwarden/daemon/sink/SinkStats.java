package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.core.event.Outbox;

/**
 * The state of a sink.
 *
 * @param refused events that the other side will never take and that were skipped
 * @param failures attempts that failed
 * @param lastError empty while the last attempt worked
 */
public record SinkStats(String sink, long sent, long refused, long failures, String lastError, Outbox.Lag lag) {}
