package dev.gpuwarden.core.limit;

import dev.gpuwarden.core.util.BoundedMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** A rate limit for each of many keys: a burst, then one event per interval. Thread-safe. */
public final class RateLimit {

    private final int burst;
    private final long eachNanos;
    private final LongSupplier nanoTime;
    /** Time at which each key has its whole burst again; the least recently used key is dropped first. */
    private final Map<Object, Long> full;

    /**
     * Creates a rate limit.
     *
     * @param burst number of events without a pause
     * @param eachNanos interval after which a further event is permitted
     * @param most number of keys that are kept
     */
    public RateLimit(int burst, long eachNanos, int most, LongSupplier nanoTime) {
        this.burst = burst;
        this.eachNanos = eachNanos;
        this.nanoTime = nanoTime;
        this.full = new BoundedMap<>(most, true);
    }

    /**
     * Takes one event of the key.
     *
     * @return false where the limit is reached; the event then does not count
     */
    public synchronized boolean take(Object who) {
        if (waitNanos(who) > 0) {
            return false;
        }
        full.put(who, nanoTime.getAsLong() + missingNanos(who) + eachNanos);
        return true;
    }

    /** Returns whether an event of the key is permitted, without counting one. */
    public synchronized boolean has(Object who) {
        return waitNanos(who) == 0;
    }

    /** Returns the time until the next event of the key is permitted, in nanoseconds; 0 if it is now. */
    public synchronized long waitNanos(Object who) {
        return Math.max(0, missingNanos(who) - (burst - 1) * eachNanos);
    }

    /** Returns whether the key has its whole burst. */
    public synchronized boolean isFull(Object who) {
        return missingNanos(who) == 0;
    }

    private long missingNanos(Object who) {
        Long before = full.get(who);
        return before == null ? 0 : Math.max(0, before - nanoTime.getAsLong());
    }
}
