package dev.gpuwarden.aggregator.breaker;

import java.time.Instant;

/**
 * @param reason why it is open; empty when it is not
 * @param since when its status became what it is; nodes that were let through before are not counted any more
 * @param letThrough how many nodes pass while it is half open, from then on
 */
public record PoolState(Status status, String reason, Instant since, int letThrough) {

    public enum Status {
        CLOSED,
        /** Nobody passes until somebody asks for {@link BreakerPolicy#halfOpen} or {@link BreakerPolicy#close}. */
        OPEN,
        /** Some pass, whatever the limits say, because somebody asked for it; the next one meets the limits again. */
        HALF_OPEN
    }

    /** Of a pool of which nothing is kept. */
    static final PoolState NEW = closed(Instant.EPOCH);

    static PoolState closed(Instant since) {
        return new PoolState(Status.CLOSED, "", since, 0);
    }

    static PoolState open(String reason, Instant since) {
        return new PoolState(Status.OPEN, reason, since, 0);
    }
}
