package dev.gpuwarden.aggregator.rules;

/** Why a rule set cannot be used. */
final class RuleProblem extends Exception {
    private static final long serialVersionUID = 1L;

    private final Verdict verdict;

    RuleProblem(Verdict verdict, String message) {
        super(message);
        this.verdict = verdict;
    }

    /** Names are reasons of the condition. */
    enum Verdict {
        DoesNotCompile,
        TooCostly,
        NeverMatches
    }

    Verdict verdict() {
        return verdict;
    }

    /** With where it is, in front. */
    RuleProblem in(String place) {
        return new RuleProblem(verdict, place + ": " + getMessage());
    }
}
