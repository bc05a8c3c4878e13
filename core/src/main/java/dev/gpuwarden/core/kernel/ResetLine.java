package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import java.util.Optional;

/** The lines of jobs that reset a GPU, in the system's log. Jobs are programs, so these are no messages of the kernel. */
final class ResetLine {

    /** The syslog tag of NVSentinel's job. Other jobs must use the same tag. */
    static final String PROGRAM = "nvsentinel-gpu-reset";

    private ResetLine() {}

    /**
     * Reads a line.
     *
     * @param cursor the position behind "GPU reset "
     */
    static Optional<Signal> read(Cursor cursor) {
        if (cursor.skip("occurred:")) {
            return cursor.skipSpaces().gpuUuid().map(uuid -> signal(uuid, true));
        }
        if (!cursor.skip("executed:")) {
            return Optional.empty();
        }
        Optional<String> uuid = cursor.skipSpaces().gpuUuid();
        if (uuid.isEmpty() || !cursor.skip(",") || !cursor.skipSpaces().skip("success:")) {
            return Optional.empty();
        }
        cursor.skipSpaces();
        if (cursor.skip("true")) {
            return Optional.of(signal(uuid.get(), true));
        }
        return cursor.skip("false") ? Optional.of(signal(uuid.get(), false)) : Optional.empty();
    }

    private static Signal signal(String uuid, boolean success) {
        return success
                ? Signal.of(Kind.GPU_RESET, "reset", Resolution.NOTHING, "a job reports that it reset this GPU")
                        .ofGpu(uuid)
                : Signal.of(
                                Kind.GPU_RESET,
                                "reset-failed",
                                Resolution.of("RESTART_VM"),
                                "a job reports that it could not reset this GPU")
                        .ofGpu(uuid);
    }
}
