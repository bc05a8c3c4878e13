package dev.gpuwarden.aggregator.ruleset;

/** Why a rule set cannot be used. */
public final class InvalidExpressionException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Verdict verdict;

    public InvalidExpressionException(Verdict verdict, String message) {
        super(message);
        this.verdict = verdict;
    }

    /** Names are reasons of the condition. */
    public enum Verdict {
        DoesNotCompile,
        TooCostly,
        NeverMatches
    }

    public Verdict verdict() {
        return verdict;
    }

    /** With where it is, in front. */
    public InvalidExpressionException in(String place) {
        return new InvalidExpressionException(verdict, place + ": " + getMessage());
    }
}
