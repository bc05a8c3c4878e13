package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.core.event.Outbox;

/**
 * The state of a sink.
 *
 * @param refused events that the other side will never take and that were skipped
 * @param failures attempts that failed
 * @param lastError empty while the last attempt worked
 */
public record SinkStats(String sink, long sent, long refused, long failures, String lastError, Outbox.Lag lag) {

    /** Counters and the last error. Written by the sink's one thread. */
    public static final class Counters {

        private volatile long sent;
        private volatile long refused;
        private volatile long failures;
        private volatile String lastError = "";

        public void acknowledged(int events) {
            sent += events;
        }

        public void refused() {
            refused++;
        }

        public void failed(String why) {
            // The cause first: a reader that sees the failure must see its cause.
            lastError = why;
            failures++;
        }

        public void works() {
            lastError = "";
        }

        public SinkStats stats(String sink, Outbox.Lag lag) {
            return new SinkStats(sink, sent, refused, failures, lastError, lag);
        }
    }
}
