package dev.gpuwarden.daemon.store;

import java.time.Duration;

/**
 * The times of scans of the history for faults that found no room. A scan reads slices, between which new events are stored. The pause
 * after it is {@value #PAUSE_FACTOR} times as long, so that scans take at most a tenth of the writer's time. Used by the writer's thread.
 */
final class RoomScan {

    private static final int PAUSE_FACTOR = 9;

    private final long intervalNanos;
    private long nextNanos;
    private long readNanos;
    private boolean needed;

    /** @param interval shortest time between two scans */
    RoomScan(Duration interval, long nowNanos) {
        this.intervalNanos = interval.toNanos();
        this.nextNanos = nowNanos;
    }

    void need(boolean now) {
        needed = now;
    }

    /** Returns this time, or that of the next slice if it comes before and a scan is needed. */
    long wakeNanos(long other) {
        return needed && nextNanos - other < 0 ? nextNanos : other;
    }

    boolean isDue(long nowNanos) {
        return nowNanos - nextNanos >= 0;
    }

    /** @param goesOn whether the scan has further slices */
    void read(long beganNanos, long endedNanos, boolean goesOn) {
        nextNanos = endedNanos;
        readNanos += endedNanos - beganNanos;
        if (!goesOn) {
            nextNanos += Math.max(intervalNanos, PAUSE_FACTOR * readNanos);
            readNanos = 0;
        }
    }
}
