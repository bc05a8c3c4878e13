package dev.gpuwarden.daemon.kernlog;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * Turns the kernel's time since boot into wall time. The kernel stamps records with a clock that nobody corrects, which is off
 * by minutes after months; so a record that was seen to arrive sets it right.
 */
final class BootClock {

    /** Nobody waits this long in the middle of a backlog: the record that ends the wait was just written. */
    private static final Duration WAITED = Duration.ofSeconds(1);

    /** More than this is no drift. */
    private static final Duration MOST_DRIFT = Duration.ofHours(1);

    private final Path procfs;
    private final Clock clock;
    private Instant boot;

    BootClock(Path procfs, Clock clock) {
        this.procfs = procfs;
        this.clock = clock;
        this.boot = bootTime();
    }

    /** Looks again when the node booted: the wall clock may have been set since. */
    void refresh() {
        boot = bootTime();
    }

    Instant now() {
        return clock.instant();
    }

    /** EPOCH where the node does not tell when it booted, or for a time that cannot be. */
    Instant at(long micros) {
        if (boot.equals(Instant.EPOCH) || micros > Duration.ofDays(36500).toSeconds() * 1_000_000) {
            return Instant.EPOCH;
        }
        return boot.plusNanos(Math.multiplyExact(micros, 1000));
    }

    /** @param waited how long the reader waited for the record that has this time */
    void arrived(long micros, Duration waited) {
        if (waited.compareTo(WAITED) < 0 || boot.equals(Instant.EPOCH)) {
            return;
        }
        Instant seen = clock.instant().minusNanos(micros * 1000);
        if (Duration.between(boot, seen).abs().compareTo(MOST_DRIFT) < 0) {
            boot = seen;
        }
    }

    private Instant bootTime() {
        try {
            String uptime = Files.readString(procfs.resolve("uptime")).trim().split(" ", 2)[0];
            return clock.instant().minusNanos(Math.round(Double.parseDouble(uptime) * 1e9));
        } catch (IOException | NumberFormatException e) {
            return Instant.EPOCH;
        }
    }
}
