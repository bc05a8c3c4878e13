package dev.gpuwarden.aggregator.drain;

/** How a pod leaves a node; of several that fit, the first here holds. */
public enum DrainMode {
    /** It is evicted at once. */
    IMMEDIATE("Immediate"),
    /** It may end by itself until its time is over, and is deleted then, whatever its budget says. */
    DELETE_AFTER_TIMEOUT("DeleteAfterTimeout"),
    /** It ends by itself, however long that takes. */
    ALLOW_COMPLETION("AllowCompletion");

    private final String label;

    DrainMode(String label) {
        this.label = label;
    }

    /** As people write it. */
    public String label() {
        return label;
    }
}
