package dev.gpuwarden.core.telemetry;

/** Units of raw values as the driver gives them, and how each becomes a Prometheus base unit. */
public enum Unit {
    BYTES("bytes", 1),
    KIBIBYTES("bytes", 1024),
    CELSIUS("celsius", 1),
    MILLIWATTS("watts", 1e-3),
    MILLIJOULES("joules", 1e-3),
    MEGAHERTZ("hertz", 1e6),
    /** Percent, exported as a ratio from 0 to 1. */
    PERCENT("ratio", 1e-2),
    NANOSECONDS("seconds", 1e-9),
    MICROSECONDS("seconds", 1e-6),
    MEBIBYTES_PER_SECOND("bytes_per_second", 1024 * 1024),
    MEGABYTES_PER_SECOND("bytes_per_second", 1e6),
    /** Pure numbers: counts, states, generations, masks, 0 or 1. */
    NONE("", 1);

    private final String base;
    private final double toBase;

    Unit(String base, double toBase) {
        this.base = base;
        this.toBase = toBase;
    }

    /** The base unit's name as metric names end with it; empty for pure numbers. */
    public String base() {
        return base;
    }

    /** Converts a raw value to the base unit, in floating point. */
    public double toBase(long raw) {
        return raw * toBase;
    }
}
