package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.daemon.sink.SinkStats;

/** How the uplink is doing. Written by its one thread. */
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
        // First the cause: whoever sees that it failed sees why.
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
