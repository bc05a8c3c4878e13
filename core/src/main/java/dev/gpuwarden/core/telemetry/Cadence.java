package dev.gpuwarden.core.telemetry;

/** The sampling interval of a reading. The ordinal is the number that native code receives. */
public enum Cadence {
    /** Memory and health: every second by default. */
    FAST,
    /** Everything that changes slowly or costs more: every 10 seconds by default. */
    SLOW,
    /** The memory readings of {@link #FAST} alone, more often, while budgets are watched. No reading belongs to it. */
    MEMORY
}
