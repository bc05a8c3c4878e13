package dev.gpuwarden.core.telemetry;

/** Units of raw values as the driver gives them, and how each becomes a Prometheus base unit. */
public enum Unit {
    BYTES("bytes", 1, 1),
    KIBIBYTES("bytes", 1024, 1),
    CELSIUS("celsius", 1, 1),
    MILLIWATTS("watts", 1, 1e3),
    MILLIJOULES("joules", 1, 1e3),
    MEGAHERTZ("hertz", 1e6, 1),
    /** Percent, exported as a ratio from 0 to 1. */
    PERCENT("ratio", 1, 1e2),
    /** Thousandths of a percent, exported as a ratio from 0 to 1. */
    MILLIPERCENT("ratio", 1, 1e5),
    NANOSECONDS("seconds", 1, 1e9),
    MICROSECONDS("seconds", 1, 1e6),
    BYTES_PER_SECOND("bytes_per_second", 1, 1),
    MEBIBYTES_PER_SECOND("bytes_per_second", 1024 * 1024, 1),
    MEGABYTES_PER_SECOND("bytes_per_second", 1e6, 1),
    /** Pure numbers: counts, states, generations, masks, 0 or 1. */
    NONE("", 1, 1);

    private final String base;
    private final double multiplier;
    private final double divisor;

    Unit(String base, double multiplier, double divisor) {
        this.base = base;
        this.multiplier = multiplier;
        this.divisor = divisor;
    }

    /** Returns the base unit's name, with which metric names end; empty for pure numbers. */
    public String base() {
        return base;
    }

    /**
     * Converts a raw value to the base unit. It divides instead of multiplying by 0.001, which no double represents: 41
     * W stay 41.0.
     */
    public double toBase(long raw) {
        return raw * multiplier / divisor;
    }
}
