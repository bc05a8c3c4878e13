package dev.gpuwarden.core.telemetry;

/** The readings of one NVLink, sampled at {@link Cadence#SLOW}. */
public enum LinkMetric implements Metric {
    /** 2 is a link in its power-saving sleep (nvml.h 13.3, NVML_NVLINK_STATE_SLEEP): no fault. */
    STATE(Unit.NONE, Kind.GAUGE, 2, "1 if the link is up."),
    VERSION(Unit.NONE, Kind.GAUGE, 99, "NVLink version of the link, as NVML numbers it."),
    SPEED(Unit.MEGABYTES_PER_SECOND, Kind.GAUGE, 1_000_000, "Speed of the link in one direction."),
    REPLAYS(Unit.NONE, Kind.COUNTER, 1L << 40, "Packets sent again on the link."),
    RECOVERIES(Unit.NONE, Kind.COUNTER, 1L << 40, "Times the link was trained again."),
    CRC_FLIT_ERRORS(Unit.NONE, Kind.COUNTER, 1L << 40, "Flow-control CRC errors of the link."),
    CRC_DATA_ERRORS(Unit.NONE, Kind.COUNTER, 1L << 40, "Data CRC errors of the link.");

    /** Most links that a GPU can have (nvml.h 13.3, NVML_NVLINK_MAX_LINKS). */
    public static final int MAX_LINKS = 36;

    private static final LinkMetric[] VALUES = values();

    private final Spec spec;

    LinkMetric(Unit unit, Kind kind, long max, String help) {
        this.spec = Spec.of(this, unit, kind, max, help);
    }

    @Override
    public Spec spec() {
        return spec;
    }

    public static int count() {
        return VALUES.length;
    }

    public static LinkMetric of(int ordinal) {
        return VALUES[ordinal];
    }
}
