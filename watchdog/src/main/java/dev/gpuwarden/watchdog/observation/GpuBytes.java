package dev.gpuwarden.watchdog.observation;

import java.util.Optional;

/**
 * The memory of one GPU in bytes, as the driver reports it.
 *
 * @param reserved the driver's own part, which may or may not be part of {@code used}; 0 where it is not separate
 */
public record GpuBytes(long total, long reserved, long used, long free) {

    /** The share of the total by which the sum of the parts may differ: readings of one call are not atomic. */
    private static final double SLACK = 0.02;

    /** Returns the memory in use without the driver's part, as far as the driver separates it. */
    public long clientBytes() {
        return Math.max(0, total - free - reserved);
    }

    /** Returns why no GPU can have these values; empty if one can. */
    public Optional<String> doubt() {
        if (total <= 0 || reserved < 0 || used < 0 || free < 0) {
            return Optional.of("a negative or zero amount: " + this);
        }
        if (used > total || free > total || reserved > total) {
            return Optional.of("a part is larger than the whole: " + this);
        }
        long apart = total - used - free;
        boolean adds = Math.abs(apart) <= total * SLACK || Math.abs(apart - reserved) <= total * SLACK;
        return adds ? Optional.empty() : Optional.of("used and free do not make up the total: " + this);
    }
}
