package dev.gpuwarden.watchdog.pressure;

import java.time.Duration;
import java.util.Set;

/**
 * The rules for pressure.
 *
 * @param triggers those that count
 * @param floorBytes free memory below which there is pressure; on a small card {@code floorShare} of it, if that is less
 * @param marginBytes free memory above a limit that ends its pressure
 * @param samples memory readings that are regarded, at most 64
 * @param least readings among them below a limit at which pressure begins
 * @param leaveAfter time without a reading below limit and margin after which pressure ends
 * @param attempts failed attempts to allocate that make a failed demand
 * @param attemptsWithin time in which they must occur
 * @param attemptLasts longest life of a process that counts as an attempt
 * @param starvedShare share of its budget that a tenant must lack for an attempt to count
 * @param reservationWaits time for which a reservation within a budget must wait to be a demand that fails
 */
public record PressureRules(
        Set<Trigger> triggers,
        long floorBytes,
        double floorShare,
        long marginBytes,
        int samples,
        int least,
        Duration leaveAfter,
        int attempts,
        Duration attemptsWithin,
        Duration attemptLasts,
        double starvedShare,
        Duration reservationWaits) {

    /**
     * Floor 1536 MiB or a tenth of the card, two of three readings, and half a minute to leave. The model loads that
     * failed in known incidents took about 8 s each. A tenant that ends needs some seconds to give its memory back, so a
     * reservation waits for longer than that.
     */
    public static final PressureRules DEFAULT = new PressureRules(
            Set.of(Trigger.values()),
            1536L << 20,
            0.1,
            256L << 20,
            3,
            2,
            Duration.ofSeconds(30),
            3,
            Duration.ofMinutes(5),
            Duration.ofSeconds(60),
            0.5,
            Duration.ofSeconds(15));

    public PressureRules {
        triggers = Set.copyOf(triggers);
        if (samples < 1 || samples > 64 || least < 1 || least > samples) {
            throw new IllegalArgumentException(
                    "expected 1 to 64 samples and at most as many below the limit, seen " + least + " of " + samples);
        }
        if (floorBytes < 0 || marginBytes < 0 || floorShare < 0 || floorShare > 1 || attempts < 1) {
            throw new IllegalArgumentException("expected a floor and a margin of at least 0, a share from 0 to 1 and at"
                    + " least one attempt, seen " + floorBytes + ", " + marginBytes + ", " + floorShare + ", "
                    + attempts);
        }
    }

    /** Returns the floor of a card with this memory. */
    public long floorOf(long totalBytes) {
        return Math.min(floorBytes, (long) (totalBytes * floorShare));
    }
}
