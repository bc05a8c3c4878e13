package dev.gpuwarden.core.event;

import java.util.Map;

/** The fault of a part whose verification after a repair is open. Pure. */
public final class OpenVerification {

    /** The check's name in events. */
    public static final String CHECK = "RepairVerification";

    /** The code of a finding that was skipped, because a process has the GPU. */
    private static final String GPU_HELD = "gpu-held";

    /** Metadata key: the code of the finding by which a check is open. */
    private static final String FINDING = "gpuwarden.dev/finding";

    private OpenVerification() {}

    /** Returns the metadata of a fault that names an open check. */
    public static Map<String, String> metadata(String code) {
        return Map.of(FINDING, code);
    }

    /** Returns true if the check waits until a process leaves the GPU. Older daemons do not mark such a fault. */
    public static boolean isHeld(HealthEvent cause) {
        return !cause.healthy()
                && cause.checkName().equals(CHECK)
                && GPU_HELD.equals(cause.metadata().get(FINDING));
    }
}
