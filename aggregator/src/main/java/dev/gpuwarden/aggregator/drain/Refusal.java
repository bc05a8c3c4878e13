package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.core.limit.Backoff;
import java.time.Duration;
import java.time.Instant;

/**
 * That a pod could not be evicted or deleted, however often that was tried.
 *
 * @param since when it was refused first
 * @param again when it is tried next
 */
public record Refusal(int times, Instant since, String why, Instant again) {

    /** The longest pause, in first ones. */
    private static final int LONGEST = 6;

    /** What was written on the Node by whoever was here before. */
    static Refusal before(Instant since, String why) {
        return new Refusal(0, since, why, since);
    }

    /**
     * @param first pause, twice as long after each further one
     * @param least what the API server wants to be left alone for
     */
    Refusal again(String reason, Duration first, Duration least, Instant now) {
        Duration pause = Backoff.exact(first, first.multipliedBy(LONGEST)).pause(times + 1);
        return new Refusal(times + 1, since, reason, now.plus(pause.compareTo(least) > 0 ? pause : least));
    }
}
