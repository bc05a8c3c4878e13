package dev.gpuwarden.core.port;

/** The outcome of opening a driver. */
public sealed interface DriverOpening {

    record Opened(Driver driver) implements DriverOpening {}

    /**
     * @param reason what is missing
     * @param code the library's return code; 0 where it was never called
     * @param detail for people: which file or function, and what it answered
     */
    record Unavailable(Reason reason, int code, String detail) implements DriverOpening {}

    /** Why there is no driver. */
    enum Reason {
        /** No driver library on this node. */
        LIBRARY_MISSING,
        /** A file is there and cannot be used: wrong architecture, not a driver library, a function missing. */
        LIBRARY_UNUSABLE,
        /** The library is there, the kernel driver is not loaded (nvmlReturn 9). */
        DRIVER_NOT_LOADED,
        /** Library and kernel driver are of different versions: upgraded under a running system (nvmlReturn 18). */
        VERSION_MISMATCH,
        /** This process may not talk to the driver (nvmlReturn 4, or no device nodes). */
        NO_PERMISSION,
        /** The library answered with another error, or not at all. */
        FAILED
    }
}
