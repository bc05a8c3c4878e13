package dev.gpuwarden.core.limit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** How often something may happen for each of many: some times at once, then once in a while. Thread-safe. */
public final class RateLimit {

    private final int burst;
    private final long eachNanos;
    private final LongSupplier nanoTime;
    /** When each will have all of its burst again; the one that was used least lately goes first. */
    private final Map<Object, Long> full;

    /**
     * @param burst how often at once
     * @param eachNanos after which one of it may happen again
     * @param most of how many this is remembered
     */
    public RateLimit(int burst, long eachNanos, int most, LongSupplier nanoTime) {
        this.burst = burst;
        this.eachNanos = eachNanos;
        this.nanoTime = nanoTime;
        this.full = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Object, Long> eldest) {
                return size() > most;
            }
        };
    }

    /** Whether it may happen now for this one, which counts then. */
    public synchronized boolean take(Object who) {
        long missing = missingNanos(who);
        if (missing > (burst - 1) * eachNanos) {
            return false;
        }
        full.put(who, nanoTime.getAsLong() + missing + eachNanos);
        return true;
    }

    /** The same without counting. */
    public synchronized boolean has(Object who) {
        return missingNanos(who) <= (burst - 1) * eachNanos;
    }

    /** Whether it has not happened for this one lately. */
    public synchronized boolean isFull(Object who) {
        return missingNanos(who) == 0;
    }

    private long missingNanos(Object who) {
        Long before = full.get(who);
        return before == null ? 0 : Math.max(0, before - nanoTime.getAsLong());
    }
}
