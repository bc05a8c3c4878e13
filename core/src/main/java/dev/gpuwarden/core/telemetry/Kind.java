package dev.gpuwarden.core.telemetry;

/** The behaviour of a value over time. */
public enum Kind {
    GAUGE,
    /** Only grows while the driver stays loaded; falls back to 0 on reload or reset. */
    COUNTER
}
