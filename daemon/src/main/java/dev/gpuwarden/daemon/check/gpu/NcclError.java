package dev.gpuwarden.daemon.check.gpu;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CollectiveException;

/** The codes of NCCL's errors in NVSentinel's ADR-026, with their actions. An error with an action is fatal there. */
enum NcclError {
    NCCL_SYSTEM_ERROR(
            RecommendedAction.CONTACT_SUPPORT,
            "a call of the system failed, often of /dev/shm or the network: run it again with NCCL_DEBUG=WARN"),
    NCCL_INTERNAL_ERROR(RecommendedAction.RUN_DCGMEUD, "run it again with NCCL_DEBUG=WARN, then NVIDIA's diagnostics"),
    NCCL_INVALID_USAGE(
            RecommendedAction.NONE, "check NCCL_* of the environment and the version of NCCL: NCCL_DEBUG=WARN"),
    NCCL_TIMEOUT(
            RecommendedAction.NONE,
            "search the kernel log for an XID, and run it again; a GPU may take no part in work"),
    NCCL_REMOTE_ERROR(
            RecommendedAction.CONTACT_SUPPORT,
            "search the kernel log for an XID, and run it again with NCCL_DEBUG=WARN"),
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
                    case 2 -> NCCL_SYSTEM_ERROR;
                    case 4, 5 -> NCCL_INVALID_USAGE;
                    case 6 -> NCCL_REMOTE_ERROR;
                    default -> NCCL_INTERNAL_ERROR;
                };
        };
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
