package dev.gpuwarden.core.event;

import java.util.Optional;

/** The size limits of an event. Every receiver of events refuses larger ones, so the store never gets them. */
public final class EventLimits {

    /** Characters of all texts of an event together. Messages of real senders end at 1,000 to 4,000. */
    public static final int CHARACTERS = 16 * 1024;

    /** Faults of one event: each pair of entity and error code is a fault of its own. */
    public static final int FAULTS = 512;

    public static final int METADATA = 128;

    private EventLimits() {}

    /** Returns the violated limit as text for the sender; empty if the event keeps all limits. */
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
