package dev.gpuwarden.daemon.vram.reserve;

/** A request that cannot be granted now or later. Its message is for the caller. */
public final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final Cause cause;

    /** The kind of a refusal. */
    public enum Cause {
        /** The node, or the GPU, grants no reservations. */
        IMPOSSIBLE,
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

    public Cause kind() {
        return cause;
    }
}
