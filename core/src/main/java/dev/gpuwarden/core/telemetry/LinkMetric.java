package dev.gpuwarden.core.telemetry;

/** The readings of one NVLink, sampled at {@link Cadence#SLOW}. */
public enum LinkMetric {
    /** 2 is a link in its power-saving sleep (nvml.h 13.3, NVML_NVLINK_STATE_SLEEP): no fault. */
    STATE("state", Unit.NONE, Kind.GAUGE, 2, "1 if the link is up."),
    VERSION("version", Unit.NONE, Kind.GAUGE, 99, "NVLink version of the link, as NVML numbers it."),
    SPEED("speed", Unit.MEGABYTES_PER_SECOND, Kind.GAUGE, 1_000_000, "Speed of the link in one direction."),
    REPLAYS("replays", Unit.NONE, Kind.COUNTER, 1L << 40, "Packets sent again on the link."),
    RECOVERIES("recoveries", Unit.NONE, Kind.COUNTER, 1L << 40, "Times the link was trained again."),
    CRC_FLIT_ERRORS("crc_flit_errors", Unit.NONE, Kind.COUNTER, 1L << 40, "Flow-control CRC errors of the link."),
    CRC_DATA_ERRORS("crc_data_errors", Unit.NONE, Kind.COUNTER, 1L << 40, "Data CRC errors of the link.");

    /** Most links that a GPU can have (nvml.h 13.3, NVML_NVLINK_MAX_LINKS). */
    public static final int MAX_LINKS = 36;

    private static final LinkMetric[] VALUES = values();

    private final String label;
    private final Unit unit;
    private final Kind kind;
    private final long max;
    private final String help;

    LinkMetric(String label, Unit unit, Kind kind, long max, String help) {
        this.label = label;
        this.unit = unit;
        this.kind = kind;
        this.max = max;
        this.help = help;
    }

    /** Returns the reading's name without unit: in metrics between `gpuwarden_nvlink_` and the unit. */
    public String label() {
        return label;
    }

    public Unit unit() {
        return unit;
    }

    public Kind kind() {
        return kind;
    }

    public String help() {
        return help;
    }

    public boolean plausible(long raw) {
        return raw >= 0 && raw <= max;
    }

    public static int count() {
        return VALUES.length;
    }

    public static LinkMetric of(int ordinal) {
        return VALUES[ordinal];
    }
}
