package dev.gpuwarden.aggregator.objectmonitor;

/** Why a policy cannot be used. */
public final class PolicyProblem extends Exception {
    private static final long serialVersionUID = 1L;

    private final Verdict verdict;

    PolicyProblem(Verdict verdict, String message) {
        super(message);
        this.verdict = verdict;
    }

    /** Names are reasons of the condition. */
    public enum Verdict {
        Invalid,
        DoesNotCompile,
        NeverMatches
    }

    public Verdict verdict() {
        return verdict;
    }

    /** With where it is, in front. */
    PolicyProblem in(String place) {
        return new PolicyProblem(verdict, place + ": " + getMessage());
    }
}
