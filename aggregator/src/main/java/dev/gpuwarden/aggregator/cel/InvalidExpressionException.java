package dev.gpuwarden.aggregator.cel;

/** An expression of a rule set or a policy that cannot be used, with the reason. */
public final class InvalidExpressionException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    public InvalidExpressionException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** The names are reasons of the condition `Ready`. */
    public enum Reason {
        DoesNotCompile,
        TooCostly,
        NeverMatches
    }

    public Reason reason() {
        return reason;
    }

    /** Returns the same exception with the field of the expression before the message. */
    public InvalidExpressionException in(String field) {
        return new InvalidExpressionException(reason, field + ": " + getMessage());
    }
}
