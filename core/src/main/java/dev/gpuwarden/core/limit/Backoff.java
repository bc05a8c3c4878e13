package dev.gpuwarden.core.limit;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * An exponential back-off: the pause doubles with each failure in a row. The caller counts the failures. Immutable.
 *
 * @param first the pause after one failure
 * @param longest the limit of the pause
 * @param jitter the part of each pause that is random, from 0 to 1; 0 gives exact pauses. Many clients that fail at the same moment
 *     then do not try again at the same moment
 */
public record Backoff(Duration first, Duration longest, double jitter) {

    /** Returns a back-off whose pauses are exact. */
    public static Backoff exact(Duration first, Duration longest) {
        return new Backoff(first, longest, 0);
    }

    /**
     * Returns the pause before the next try. It is random between the whole pause and the whole pause less the jitter.
     *
     * @param failures in a row, 1 after the first one; fewer count as 1
     */
    public Duration pause(int failures) {
        return pause(failures, ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Returns the pause before the next try, which is never shorter than the server asked for.
     *
     * @param failures in a row, 1 after the first one; fewer count as 1
     * @param least the pause that the server asked for, as in Retry-After; the longest pause limits it, and jitter lengthens it
     */
    public Duration pause(int failures, Duration least) {
        double random = ThreadLocalRandom.current().nextDouble();
        Duration asked = least.compareTo(longest) > 0 ? longest : least;
        Duration lengthened = Duration.ofNanos((long) (asked.toNanos() * (1 + jitter * random)));
        Duration pause = pause(failures, random);
        return pause.compareTo(lengthened) > 0 ? pause : lengthened;
    }

    /** @param random from 0, which gives the shortest pause, to 1 */
    Duration pause(int failures, double random) {
        long whole = first.toNanos();
        for (int i = 1; i < failures && whole < longest.toNanos(); i++) {
            // No overflow: the loop ends at the limit, and 2^63 ns are 292 years.
            whole *= 2;
        }
        whole = Math.min(whole, longest.toNanos());
        return Duration.ofNanos((long) (whole * (1 - jitter * (1 - random))));
    }
}
