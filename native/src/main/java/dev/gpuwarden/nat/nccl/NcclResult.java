package dev.gpuwarden.nat.nccl;

/** The results of the library (nccl.h 2.28, ncclResult_t). */
final class NcclResult {

    static final int SUCCESS = 0;
    static final int IN_PROGRESS = 7;

    private NcclResult() {}

    /** Returns the probable cause of a result, and the next step. */
    static String cause(int result) {
        return switch (result) {
            case 1 -> "a call of CUDA failed; the GPU or its driver is the cause";
            case 2 -> "a call of the system failed, often of network or shared memory; NCCL_DEBUG=WARN names it";
            case 3 -> "the library failed internally; NCCL_DEBUG=WARN names the place";
            case 4 -> "a wrong argument";
            case 5 -> "a wrong use of the library, such as two ranks on one GPU; NCCL_DEBUG=WARN names it";
            case 6 -> "another rank failed, or the connection to it was lost";
            default -> "an unknown result";
        };
    }
}
