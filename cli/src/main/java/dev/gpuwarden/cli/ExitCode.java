package dev.gpuwarden.cli;

import dev.gpuwarden.core.health.Verdict;

/** Exit codes of every command. */
public final class ExitCode {
    /** Fit, or done. */
    public static final int OK = 0;
    /** Not fit, or failed. */
    public static final int NOT_FIT = 1;
    /** Wrong usage or configuration; nothing was started. */
    public static final int USAGE = 2;
    /** Could not decide. */
    public static final int UNDECIDED = 3;
    /** An act was withheld, because its reason no longer held just before it; nothing was done. */
    public static final int WITHHELD = 4;

    private ExitCode() {}

    /** Returns the code of a command that ends with a verdict. */
    public static int of(Verdict verdict) {
        return switch (verdict) {
            case FIT -> OK;
            case NOT_FIT -> NOT_FIT;
            case UNDECIDED -> UNDECIDED;
        };
    }
}
