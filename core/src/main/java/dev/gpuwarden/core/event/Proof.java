package dev.gpuwarden.core.event;

import java.util.Map;

/**
 * The mark of an event whose evidence any user may have written, such as a line of a log file. Its strategy is
 * {@link ProcessingStrategy#STORE_ONLY}, so that no program acts on it. Pure.
 */
public final class Proof {

    /** Metadata key of the writer of the evidence. It is there only where the writer is unknown. */
    public static final String WRITER = "gpuwarden.dev/writer";

    private static final String UNKNOWN = "unknown";

    private Proof() {}

    /** Returns the metadata of an event whose evidence has an unknown writer. */
    public static Map<String, String> missing() {
        return Map.of(WRITER, UNKNOWN);
    }

    /** Returns whether the event has the mark. */
    public static boolean isMissing(HealthEvent event) {
        return UNKNOWN.equals(event.metadata().get(WRITER));
    }
}
