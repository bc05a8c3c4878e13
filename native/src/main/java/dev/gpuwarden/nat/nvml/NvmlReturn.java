package dev.gpuwarden.nat.nvml;

/** The return codes that need special handling (nvml.h 13.3, nvmlReturn_t); causes of absence are in {@code Absence}. */
public final class NvmlReturn {

    public static final int SUCCESS = 0;
    public static final int UNINITIALIZED = 1;
    public static final int INVALID_ARGUMENT = 2;
    public static final int NOT_SUPPORTED = 3;
    public static final int NO_PERMISSION = 4;
    public static final int NOT_FOUND = 6;
    public static final int INSUFFICIENT_SIZE = 7;
    public static final int DRIVER_NOT_LOADED = 9;
    public static final int TIMEOUT = 10;
    public static final int FUNCTION_NOT_FOUND = 13;
    public static final int LIB_RM_VERSION_MISMATCH = 18;
    public static final int ARGUMENT_VERSION_MISMATCH = 25;
    public static final int UNKNOWN = 999;

    private NvmlReturn() {}
}
