package dev.gpuwarden.core.event;

/** What may be done with an event. Ordinals are the wire's numbers (health_event.proto, ProcessingStrategy). */
public enum ProcessingStrategy {
    /** What senders that do not know the field say; means the next one. */
    UNSPECIFIED,
    EXECUTE_REMEDIATION,
    /** Kept and shown, acted on by nobody: no condition, no label, no verdict. */
    STORE_ONLY,
    /** As {@code STORE_ONLY}, and open to rules over history. */
    STORE_AND_ANALYSE;

    /** Whether somebody may act on an event with this strategy. */
    public boolean actedOn() {
        return this == UNSPECIFIED || this == EXECUTE_REMEDIATION;
    }
}
