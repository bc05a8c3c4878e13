package dev.gpuwarden.core.health;

/** The outcome of a check for one part. Only PASS is evidence of health. */
public enum Outcome {
    PASS,
    WARN,
    FAIL,
    /** The part could not be checked; it counts neither as healthy nor as a hardware fault. */
    UNKNOWN,
    SKIPPED
}
