package dev.gpuwarden.core.health;

import java.util.List;
import java.util.Locale;

/** Whether work should run on this node, from all findings together. */
public enum Verdict {
    /** Something was looked at, everything that was looked at is in order. */
    FIT,
    /** At least one fault. */
    NOT_FIT,
    /** No fault, and something that decides could not be looked at. */
    UNDECIDED;

    /** A fault outweighs ignorance, ignorance outweighs health; without any evidence of health nothing is fit. */
    public static Verdict of(List<Finding> findings) {
        if (has(findings, Outcome.FAIL)) {
            return NOT_FIT;
        }
        return has(findings, Outcome.UNKNOWN) || !has(findings, Outcome.PASS) ? UNDECIDED : FIT;
    }

    private static boolean has(List<Finding> findings, Outcome outcome) {
        return findings.stream().anyMatch(f -> f.outcome() == outcome);
    }

    /** In words, for people: "not fit". */
    public String text() {
        return label().replace('_', ' ');
    }

    /** Lower case with underscores, for labels and JSON. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
