package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.daemon.sink.SinkStats;

/** The uplink's counters and last error. Written by its one thread. */
final class UplinkCounters {

    private volatile long sent;
    private volatile long refused;
    private volatile long failures;
    private volatile String lastError = "";

    void acknowledged(int events) {
        sent += events;
    }

    void refused() {
        refused++;
    }

    void failed(String why) {
        // The cause first: a reader that sees the failure must see its cause.
        lastError = why;
        failures++;
    }

    void works() {
        lastError = "";
    }

    SinkStats stats(Outbox.Lag lag) {
        return new SinkStats(Uplink.NAME, sent, refused, failures, lastError, lag);
    }
}
