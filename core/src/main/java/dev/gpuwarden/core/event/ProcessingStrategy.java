package dev.gpuwarden.core.event;

/** The permitted use of an event. Ordinals are the wire's numbers (health_event.proto, ProcessingStrategy). */
public enum ProcessingStrategy {
    /** The value of senders without this field; means EXECUTE_REMEDIATION. */
    UNSPECIFIED,
    EXECUTE_REMEDIATION,
    /** Stored and shown, but never acted on: no condition, no label, no verdict. */
    STORE_ONLY,
    /** Like {@code STORE_ONLY}, and available to rules over history. */
    STORE_AND_ANALYSE;

    /** Returns true if programs may act on an event with this strategy. */
    public boolean actedOn() {
        return this == UNSPECIFIED || this == EXECUTE_REMEDIATION;
    }
}
