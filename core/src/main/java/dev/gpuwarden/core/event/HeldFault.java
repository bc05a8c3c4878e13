package dev.gpuwarden.core.event;

/**
 * A fault that flaps, and whose check passes now. It holds a node in quarantine, and is no reason for an act on the node. The
 * sender is a check of the daemon; older daemons do not mark such faults, and faults of other senders are never held. Pure.
 */
public final class HeldFault {

    /** Metadata key of the outcome of the last run of a check: pass, warn, fail. */
    public static final String OUTCOME = "gpuwarden.dev/outcome";

    private static final String PASS = "pass";

    private HeldFault() {}

    /** @param cause event that raised the fault, or changed it last */
    public static boolean is(HealthEvent cause) {
        return !cause.healthy() && PASS.equals(cause.metadata().get(OUTCOME));
    }
}
