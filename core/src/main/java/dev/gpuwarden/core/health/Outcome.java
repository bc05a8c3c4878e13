package dev.gpuwarden.core.health;

/** What a look at something found. Only PASS is evidence of health. */
public enum Outcome {
    PASS,
    WARN,
    FAIL,
    /** Could not look; never healthy, and never a hardware fault either. */
    UNKNOWN,
    SKIPPED
}
