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

    /**
     * Returns whether an error stays: each later call of this process on the GPU returns it too. 214 ECC and 220 NVLink are published as
     * such. cuda.h has these: 226 contained error, 700 illegal address, 702 time-out of a kernel, 710 assertion, 714 to 719 faults
     * of a kernel, 721 tensor memory, 810 the end of an MPS client, 911 an external device.
     */
    static boolean poisons(int result) {
        return switch (result) {
            case 214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911 -> true;
            default -> false;
        };
    }
}
