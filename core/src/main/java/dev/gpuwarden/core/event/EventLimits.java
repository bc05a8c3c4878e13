package dev.gpuwarden.core.event;

import java.util.Optional;

/** How big an event may be. Whoever takes events from others refuses what is bigger; the store never gets it. */
public final class EventLimits {

    /** Of all texts of an event together. Messages of real senders end at 1 to 4 thousand. */
    public static final int CHARACTERS = 16 * 1024;

    /** Entities and error codes multiply: each pair is a fault of its own. */
    public static final int FAULTS = 512;

    public static final int METADATA = 128;

    private EventLimits() {}

    /** What is wrong with the event, for its sender; empty if nothing is. */
    public static Optional<String> violation(HealthEvent event) {
        if (event.checkName().isEmpty()) {
            return Optional.of("expected the name of a check, but checkName is empty");
        }
        int entities = event.entities().size();
        int codes = event.errorCodes().size();
        if (Math.max(1L, entities) * Math.max(1L, codes) > FAULTS) {
            return Optional.of("expected at most " + FAULTS + " pairs of entity and error code, but there are "
                    + entities + " entities and " + codes + " codes");
        }
        if (event.metadata().size() > METADATA) {
            return Optional.of("expected at most " + METADATA + " metadata entries, but there are "
                    + event.metadata().size());
        }
        int characters = event.characters();
        return characters > CHARACTERS
                ? Optional.of("expected at most " + CHARACTERS + " characters of text, but there are " + characters)
                : Optional.empty();
    }
}
