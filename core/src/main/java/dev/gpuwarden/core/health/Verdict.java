package dev.gpuwarden.core.health;

import java.util.List;
import java.util.Locale;

/** The verdict whether work should run on this node, from all findings together. */
public enum Verdict {
    /** At least one part was checked, and all checked parts are healthy. */
    FIT,
    /** At least one fault. */
    NOT_FIT,
    /** No fault, but a deciding part could not be checked. */
    UNDECIDED;

    /**
     * Returns the verdict. A fault outweighs an unknown, and an unknown outweighs a pass; without any pass the node is
     * not fit.
     */
    public static Verdict of(List<Finding> findings) {
        if (has(findings, Outcome.FAIL)) {
            return NOT_FIT;
        }
        return has(findings, Outcome.UNKNOWN) || !has(findings, Outcome.PASS) ? UNDECIDED : FIT;
    }

    private static boolean has(List<Finding> findings, Outcome outcome) {
        return findings.stream().anyMatch(f -> f.outcome() == outcome);
    }

    /** Returns the verdict in words: "not fit". */
    public String text() {
        return label().replace('_', ' ');
    }

    /** Returns the verdict in lower case with underscores, for labels and JSON. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
