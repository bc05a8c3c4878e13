package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import java.util.Optional;

/** What jobs that reset a GPU write to the system's log; they are programs, so the line is no message of the kernel. */
final class ResetLine {

    /** The name under which NVSentinel's job writes; other jobs that are to be heard take the same. */
    static final String PROGRAM = "nvsentinel-gpu-reset";

    private ResetLine() {}

    /** @param cursor behind "GPU reset " */
    static Optional<Signal> read(Cursor cursor) {
        if (cursor.skip("occurred:")) {
            return GpuUuid.read(cursor.skipSpaces()).map(uuid -> signal(uuid, true));
        }
        if (!cursor.skip("executed:")) {
            return Optional.empty();
        }
        Optional<String> uuid = GpuUuid.read(cursor.skipSpaces());
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
                ? Signal.of(Kind.GPU_RESET, "reset", Resolution.NOTHING, "a job says that it reset this GPU")
                        .ofGpu(uuid)
                : Signal.of(
                                Kind.GPU_RESET,
                                "reset-failed",
                                Resolution.of("RESTART_VM"),
                                "a job says that it could not reset this GPU")
                        .ofGpu(uuid);
    }
}
