package dev.gpuwarden.nat.cuda;

import java.util.Map;
import java.util.Optional;

/** The variables of a process that change which GPUs CUDA lists for it, and how (CUDA C++ Programming Guide 13.0, 5.2). Pure. */
final class VisibleDevices {

    // cuda.h 13.0: CUDA_ERROR_MPS_CONNECTION_FAILED to CUDA_ERROR_MPS_CLIENT_TERMINATED.
    private static final int FIRST_MPS_ERROR = 805;
    private static final int LAST_MPS_ERROR = 810;

    private VisibleDevices() {}

    /**
     * Returns the variable that explains a GPU which CUDA does not list, as a clause for the end of a message; empty text if
     * no variable hides GPUs.
     */
    static String hiding(Map<String, String> environment) {
        return Optional.ofNullable(environment.get("CUDA_VISIBLE_DEVICES"))
                .map(value ->
                        "; CUDA_VISIBLE_DEVICES=\"" + value + "\" of this process hides all other GPUs, so unset it")
                .orElse("");
    }

    /** Returns the variable that explains why the library did not start, in the same form. */
    static String ofStart(int result, Map<String, String> environment) {
        if (result == CudaResult.NO_DEVICE) {
            return hiding(environment);
        }
        return result >= FIRST_MPS_ERROR && result <= LAST_MPS_ERROR
                ? "; the Multi-Process Service did not accept this process, whose CUDA_MPS_PIPE_DIRECTORY is "
                        + Optional.ofNullable(environment.get("CUDA_MPS_PIPE_DIRECTORY"))
                                .orElse("not set")
                : "";
    }
}
