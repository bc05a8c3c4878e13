package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.GpuLoad;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** The points in time at which checks are due: a start for each check, and its interval. */
@FunctionalInterface
public interface TimeGrid {

    /** 2^64 divided by the golden ratio (Knuth, multiplicative hashing): hashes of similar names become distant. */
    long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    /** Returns a point of the check's grid, in {@code System.nanoTime}. */
    long epochNanos(CheckPlan.Planned check);

    /** Returns a grid with this start for all checks. */
    static TimeGrid from(long epochNanos) {
        return check -> epochNanos;
    }

    /**
     * Returns a grid on which checks with a load on GPUs have the same times of day after each restart, so that a daemon
     * that is often restarted still reaches a long interval. The times differ from node to node and from check to check,
     * so that a cluster does not draw its full power at the same time. The clock may be set later without an effect.
     *
     * @param others start for checks without a load
     * @param now present time
     * @param nowNanos the same time in {@code System.nanoTime}
     */
    static TimeGrid ofNode(String nodeName, long others, Instant now, long nowNanos) {
        return check -> {
            if (check.check().load() == GpuLoad.NONE) {
                return others;
            }
            Duration every = check.info().every();
            String name = nodeName + '/' + check.info().id();
            long offset = Math.floorMod(name.hashCode() * SPREAD, every.toNanos());
            long wallNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
            return nowNanos - Math.floorMod(wallNanos - offset, every.toNanos());
        };
    }
}
