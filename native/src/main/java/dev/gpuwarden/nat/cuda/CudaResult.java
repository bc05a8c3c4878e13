package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;

/** The results that need special handling (cuda.h 13.5, CUresult). */
public final class CudaResult {

    public static final int SUCCESS = 0;
    static final int OUT_OF_MEMORY = 2;
    static final int NO_DEVICE = 100;
    public static final int NOT_READY = 600;
    static final int PEER_ACCESS_ALREADY_ENABLED = 704;

    private CudaResult() {}

    /**
     * Returns the cause of a missing value; 800 is NOT_PERMITTED, 801 is NOT_SUPPORTED. 209 is a GPU and 222 a driver that is too old for
     * the kernels.
     */
    static Absence absence(int result) {
        return switch (result) {
            case SUCCESS -> Absence.PRESENT;
            case 800 -> Absence.NO_PERMISSION;
            case 209, 222, 801 -> Absence.NOT_SUPPORTED;
            default -> Absence.FAILED;
        };
    }

    /** Returns whether a GPU or a driver is too old for the kernels. */
    public static boolean isTooOld(int result) {
        return result == 209 || result == 222;
    }
}
