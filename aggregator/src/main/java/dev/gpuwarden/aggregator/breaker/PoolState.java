package dev.gpuwarden.aggregator.breaker;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * @param reason why it is open; empty when it never was
 * @param since when its status became what it is
 * @param recent when nodes were let through, as far as the window looks back
 * @param letThrough how many more nodes pass while it is half open
 */
public record PoolState(
        Status status, String reason, Instant since, SortedMap<String, Instant> recent, int letThrough) {

    public enum Status {
        CLOSED,
        /** Nobody passes until somebody asks for {@link Breaker#halfOpen} or {@link Breaker#close}. */
        OPEN,
        /** Some pass, whatever the limits say, because somebody asked for it; the next one meets the limits again. */
        HALF_OPEN
    }

    public PoolState {
        recent = Collections.unmodifiableSortedMap(new TreeMap<>(recent));
    }

    static PoolState closed(Instant since) {
        return new PoolState(Status.CLOSED, "", since, new TreeMap<>(), 0);
    }

    static PoolState open(String reason, Instant since) {
        return new PoolState(Status.OPEN, reason, since, new TreeMap<>(), 0);
    }

    /** Without nodes of before the window. A time ahead of now, after a clock was set back, stays. */
    PoolState within(Duration window, Instant now) {
        TreeMap<String, Instant> left = new TreeMap<>(recent);
        left.values().removeIf(at -> !at.plus(window).isAfter(now));
        return new PoolState(status, reason, since, left, letThrough);
    }

    PoolState with(String node, Instant now) {
        TreeMap<String, Instant> more = new TreeMap<>(recent);
        more.put(node, now);
        return new PoolState(status, reason, since, more, status == Status.HALF_OPEN ? letThrough - 1 : letThrough);
    }
}
