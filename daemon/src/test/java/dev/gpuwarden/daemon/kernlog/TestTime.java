package dev.gpuwarden.daemon.kernlog;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.LongSupplier;

/** A clock that a test advances. */
final class TestTime extends Clock implements LongSupplier {

    static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

    private Instant now = START;

    void advance(Duration by) {
        now = now.plus(by);
    }

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

    @Override
    public Clock withZone(ZoneId zone) {
        return this;
    }
}
