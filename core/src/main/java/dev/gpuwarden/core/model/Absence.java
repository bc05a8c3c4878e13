package dev.gpuwarden.core.model;

/**
 * The cause of a missing value. The ordinal is written to native memory (see {@code GpuFrame}), so the order is part of
 * the sampler's contract: add new causes at the end.
 */
public enum Absence {
    /** Not read yet, or a difference needs a second sample. */
    PENDING("not read yet"),
    /** No absence: the value is there. It is among the causes only because native code writes it as 1. */
    PRESENT(""),
    /** The board or the driver does not provide the value (nvmlReturn 3). */
    NOT_SUPPORTED("not supported by this board or driver"),
    /** The loaded library does not have the function. */
    NO_SYMBOL("the driver library does not have the function"),
    /** The caller lacks the permission (nvmlReturn 4). */
    NO_PERMISSION("no permission"),
    /** The GPU no longer answers (nvmlReturn 15). */
    GPU_LOST("the GPU is lost"),
    /** The GPU answers nothing until it is reset (nvmlReturn 16). */
    RESET_REQUIRED("the GPU needs a reset"),
    /** The call failed with another code. */
    FAILED("the call failed"),
    /** The library returned a value that cannot be true; it was refused and counted. */
    IMPLAUSIBLE("the value is implausible"),
    /** The last value is too old, because the driver hangs or the worker is late. */
    STALE("the last sample is too old"),
    /** The driver has no such data now (nvmlReturn 6, 21, 27). */
    NO_DATA("no data"),
    /** A setting disables the reading. */
    OFF("switched off by a setting"),
    /** The daemon let go of the GPU, for example for its reset. */
    RELEASED("the GPU is released");

    private static final Absence[] VALUES = values();

    private final String text;

    Absence(String text) {
        this.text = text;
    }

    /** Returns the cause in words. */
    public String text() {
        return text;
    }

    /** Returns the cause as a metric label or JSON value: lower case with underscores. */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    public static Absence of(int ordinal) {
        return ordinal >= 0 && ordinal < VALUES.length ? VALUES[ordinal] : FAILED;
    }

    /** Returns the cause for an nvmlReturn (nvml.h 13.3, nvmlReturn_t). 0 is PRESENT. */
    public static Absence ofNvmlReturn(int code) {
        return switch (code) {
            case 0 -> PRESENT;
            case 3 -> NOT_SUPPORTED;
            case 4 -> NO_PERMISSION;
            case 6, 21, 27 -> NO_DATA;
            case 13 -> NO_SYMBOL;
            case 15 -> GPU_LOST;
            case 16 -> RESET_REQUIRED;
            default -> FAILED;
        };
    }
}
