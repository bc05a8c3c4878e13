package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CollectiveException;

/**
 * The evidence of an error of NCCL, by the meanings in nccl.h (ncclResult_t). The names of faults are those of NVSentinel's ADR-026.
 */
enum NcclError {
    /** A call of the host's system failed, such as malloc, /dev/shm or a socket. It proves nothing about a GPU. */
    OF_SYSTEM(
            RecommendedAction.NONE,
            "free memory and /dev/shm of this host or container, and run it again with NCCL_DEBUG=WARN"),
    /** A check of NCCL's own state failed: "either a bug in NCCL or due to memory corruption". */
    NCCL_INTERNAL_ERROR(RecommendedAction.RUN_DCGMEUD, "run it again with NCCL_DEBUG=WARN, then NVIDIA's diagnostics"),
    NCCL_INVALID_USAGE(
            RecommendedAction.NONE, "check NCCL_* of the environment and the version of NCCL: NCCL_DEBUG=WARN"),
    NCCL_TIMEOUT(
            RecommendedAction.NONE,
            "search the kernel log for an XID, and run it again; a GPU may take no part in work"),
    /**
     * A connection between two ranks ended. In one process that is a socket of this host, since ranks that fail for another reason have
     * that one.
     */
    OF_CONNECTION(RecommendedAction.NONE, "search the kernel log for an XID, and run it again with NCCL_DEBUG=WARN"),
    /** An error of CUDA, which has its own meanings. */
    OF_CUDA(RecommendedAction.NONE, ""),
    /** The library is too old. */
    NOT_SUPPORTED(RecommendedAction.NONE, "");

    private final RecommendedAction action;
    private final String remedy;

    NcclError(RecommendedAction action, String remedy) {
        this.action = action;
        this.remedy = remedy;
    }

    static NcclError of(CollectiveException failure) {
        return switch (failure.kind()) {
            case COMPUTE -> OF_CUDA;
            case NOT_SUPPORTED -> NOT_SUPPORTED;
            case TIMEOUT, ABORTED -> NCCL_TIMEOUT;
            // A comparison's, which AllReduceBuffers keeps for the verdict.
            case BLIND -> NCCL_INTERNAL_ERROR;
            // nccl.h, ncclResult_t.
            case COLLECTIVES ->
                switch (failure.code()) {
                    case 1 -> OF_CUDA;
                    case 2 -> OF_SYSTEM;
                    case 4, 5 -> NCCL_INVALID_USAGE;
                    case 6 -> OF_CONNECTION;
                    default -> NCCL_INTERNAL_ERROR;
                };
        };
    }

    /** Returns whether the error belongs to the GPU whose rank had it, or may do so. */
    boolean isOfGpu() {
        return this != OF_SYSTEM && this != OF_CONNECTION;
    }

    /** Adds the part of a GPU's finding. */
    void report(FindingBuilder builder, CollectiveException failure) {
        String text = failure.getMessage();
        switch (this) {
            case OF_CUDA -> {
                int code = failure.kind() == CollectiveException.Kind.COMPUTE ? failure.code() : 0;
                ComputeCheck.unmeasured(builder, absent(Absence.FAILED, code, text));
            }
            case NOT_SUPPORTED -> builder.skip("not-measured", text);
            case OF_SYSTEM ->
                builder.unknown(
                        "not-measured",
                        text + ": a call of the host's system failed, which proves nothing about a GPU",
                        remedy);
            case OF_CONNECTION ->
                builder.unknown(
                        "not-measured",
                        text + ": a connection in this host ended, which proves nothing about a GPU",
                        remedy);
            default -> {
                if (action == RecommendedAction.NONE) {
                    builder.warn(name(), text, remedy);
                } else {
                    builder.fail(name(), text, remedy, action);
                }
            }
        }
    }

    private static Reading.Absent<?> absent(Absence cause, int code, String text) {
        return new Reading.Absent<>(cause, code, text);
    }
}
