package dev.gpuwarden.cli;

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
}
