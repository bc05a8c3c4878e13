package dev.gpuwarden.daemon.kube;

import java.time.Duration;

/** So many at once, and after that one each so often: what changes all the time costs the API server no more than this. */
final class RateLimiter {

    private final long burst;
    private final long nanosEach;
    /** When everything was paid for, or will be. */
    private long paidNanos;

    RateLimiter(int burst, Duration each, long nowNanos) {
        this.burst = burst;
        this.nanosEach = each.toNanos();
        this.paidNanos = nowNanos;
    }

    /** How long to wait for the next; 0 if it may be now. */
    long waitNanos(long nowNanos) {
        return Math.max(0, paidNanos - nowNanos - (burst - 1) * nanosEach);
    }

    void take(long nowNanos) {
        paidNanos = (paidNanos - nowNanos < 0 ? nowNanos : paidNanos) + nanosEach;
    }
}
