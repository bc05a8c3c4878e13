package dev.gpuwarden.testkit;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.LongSupplier;

/** A clock for tests: stands still until it is moved. Also supplies the nanoseconds since its start. Thread-safe. */
public final class TestClock extends Clock implements LongSupplier {

    /** The time of a new clock. */
    public static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

    private volatile Instant now = START;

    /** @param by negative for a clock that is set back */
    public synchronized void advance(Duration by) {
        now = now.plus(by);
    }

    /** Sets the time, earlier or later. */
    public synchronized void set(Instant time) {
        now = time;
    }

    /** Returns the nanoseconds since {@link #START}, as a monotonic clock does. */
    @Override
    public long getAsLong() {
        return Duration.between(START, now).toNanos();
    }

    @Override
    public Instant instant() {
        return now;
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    /** Returns this clock: it has no zones. */
    @Override
    public Clock withZone(ZoneId zone) {
        return this;
    }
}
