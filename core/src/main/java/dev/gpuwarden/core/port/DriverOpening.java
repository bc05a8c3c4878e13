package dev.gpuwarden.core.port;

/** The outcome of opening a driver. */
public sealed interface DriverOpening {

    record Opened(Driver driver) implements DriverOpening {}

    /**
     * No driver.
     *
     * @param reason the missing part
     * @param code the library's return code; 0 where it was never called
     * @param detail file or function and its answer, in words
     */
    record Unavailable(Reason reason, int code, String detail)
            implements DriverOpening, ComputeOpening, CollectiveOpening {}

    /** The reason for a missing driver. */
    enum Reason {
        /** No driver library on this node. */
        LIBRARY_MISSING,
        /** A file exists but cannot be used: wrong architecture, no driver library, a function missing. */
        LIBRARY_UNUSABLE,
        /** The library exists, but the kernel driver is not loaded (nvmlReturn 9). */
        DRIVER_NOT_LOADED,
        /** Library and kernel driver have different versions: upgraded under a running system (nvmlReturn 18). */
        VERSION_MISMATCH,
        /** This process lacks the permission to use the driver (nvmlReturn 4, or no device nodes). */
        NO_PERMISSION,
        /** The library returned another error, or did not answer. */
        FAILED
    }
}
