package dev.gpuwarden.core.event;

import java.time.Instant;

/**
 * An event in the node's store.
 *
 * @param sequence the store's number, which rises with each stored event and is never used again
 * @param event with an id that is never empty: the store assigns one if the sender gave none
 * @param received when the event was first stored
 * @param lastSeen when the event was last repeated
 * @param occurrences the number of occurrences; more than 1 if repetitions were counted and not stored
 */
public record StoredEvent(long sequence, HealthEvent event, Instant received, Instant lastSeen, long occurrences) {

    /** Metadata key of an event that reports several occurrences: their number, in decimal digits. */
    public static final String OCCURRENCES = "gpuwarden.dev/occurrences";

    private static final int MOST_DIGITS = 9;

    /** Returns the number of occurrences that the event's metadata give; 1 if they give none. */
    public static long occurrencesOf(HealthEvent event) {
        String digits = event.metadata().getOrDefault(OCCURRENCES, "");
        boolean number = !digits.isEmpty()
                && digits.length() <= MOST_DIGITS
                && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        return number ? Math.max(1, Long.parseLong(digits)) : 1;
    }
}
