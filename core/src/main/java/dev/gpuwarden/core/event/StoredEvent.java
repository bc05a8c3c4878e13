package dev.gpuwarden.core.event;

import java.time.Instant;

/**
 * An event as the node's store has it.
 *
 * @param sequence rises by one and more with each stored event, and never comes again
 * @param event its id is never empty: the store gives one where the sender gave none
 * @param received when it was first stored
 * @param lastSeen when the same was last told
 * @param occurrences how often the same was told; more than 1 where repetitions were counted and not kept
 */
public record StoredEvent(long sequence, HealthEvent event, Instant received, Instant lastSeen, long occurrences) {

    /** Metadata key of an event that stands for several occurrences at once: their number, in decimal digits. */
    public static final String OCCURRENCES = "gpuwarden.dev/occurrences";

    private static final int MOST_DIGITS = 9;

    /** How many occurrences an event stands for: what its metadata say if that is a number, else 1. */
    public static long occurrencesOf(HealthEvent event) {
        String digits = event.metadata().getOrDefault(OCCURRENCES, "");
        boolean number = !digits.isEmpty()
                && digits.length() <= MOST_DIGITS
                && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        return number ? Math.max(1, Long.parseLong(digits)) : 1;
    }
}
