package dev.gpuwarden.daemon.kube;

import java.time.Duration;

/** A rate limiter with bursts: up to {@code burst} actions at one time, then one each interval. Not thread-safe. */
final class RateLimiter {

    private final long burst;
    private final long nanosEach;
    /** The time at which the taken actions are paid off. */
    private long paidNanos;

    RateLimiter(int burst, Duration each, long nowNanos) {
        this.burst = burst;
        this.nanosEach = each.toNanos();
        this.paidNanos = nowNanos;
    }

    /** Returns the wait before the next action, in nanoseconds; 0 if it may run now. */
    long waitNanos(long nowNanos) {
        return Math.max(0, paidNanos - nowNanos - (burst - 1) * nanosEach);
    }

    void take(long nowNanos) {
        paidNanos = (paidNanos - nowNanos < 0 ? nowNanos : paidNanos) + nanosEach;
    }
}
