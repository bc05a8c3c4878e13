package dev.gpuwarden.daemon.vram.reserve;

import dev.gpuwarden.core.process.Owner;

/** A request that the node does not take. Its message is for the caller. */
public final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final Cause cause;

    /** The kind of a refusal. */
    public enum Cause {
        /** The node, or the GPU, grants no reservations. */
        IMPOSSIBLE,
        /** No GPU was read yet. */
        NOT_READY,
        /** No GPU or tenant has that name. */
        NOT_FOUND,
        /** The caller may not name another tenant. */
        FORBIDDEN,
        /** No card has that much memory. */
        TOO_LARGE,
        /** The tenant or the node has too many. */
        TOO_MANY
    }

    Refusal(Cause cause, String message) {
        super(message, null, false, false);
        this.cause = cause;
    }

    /** Returns the refusal of a caller that belongs to no tenant. */
    public static Refusal withoutTenant(Request.Caller caller, Owner.Unknown why) {
        return new Refusal(
                Cause.IMPOSSIBLE,
                "process " + caller.pid() + " belongs to no tenant: " + why.cause()
                        + "; run it in a unit, a container or a job");
    }

    public static Refusal tooMany(String message) {
        return new Refusal(Cause.TOO_MANY, message);
    }

    public Cause kind() {
        return cause;
    }
}
