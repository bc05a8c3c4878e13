package dev.gpuwarden.core.telemetry;

/** The state of a GPU. */
public enum GpuState {
    /** No sampling has ended yet and none is late. */
    STARTING,
    ANSWERING,
    /** A call has not returned within the deadline; the readings are old and stale. */
    HUNG,
    /** The driver reports the GPU as lost (nvmlReturn 15). */
    LOST,
    /** The driver reports that the GPU needs a reset before it answers (nvmlReturn 16). */
    RESET_REQUIRED,
    /** Every call fails with an error of which none is known to mean one of the other states. */
    UNREADABLE,
    /** The driver listed the GPU before and no longer does. */
    GONE,
    /** The daemon let go of the GPU, for example for its reset, and does not read it. */
    RELEASED;

    /** Returns the state in lower case with underscores, for labels and JSON. */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
