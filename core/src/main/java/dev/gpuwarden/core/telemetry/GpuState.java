package dev.gpuwarden.core.telemetry;

/** Whether a GPU answers. */
public enum GpuState {
    /** No sampling has finished yet and none is late. */
    STARTING,
    ANSWERING,
    /** A call has not returned within the deadline; readings are those from before, and stale. */
    HUNG,
    /** The driver says that the GPU is lost (nvmlReturn 15). */
    LOST,
    /** The driver says that the GPU answers nothing until it is reset (nvmlReturn 16). */
    RESET_REQUIRED,
    /** The GPU was there and the driver no longer lists it. */
    GONE;

    /** Lower case with underscores, for labels and JSON. */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
