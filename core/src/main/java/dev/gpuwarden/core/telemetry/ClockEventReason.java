package dev.gpuwarden.core.telemetry;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Bits of {@link GpuMetric#CLOCK_EVENT_REASONS} (nvml.h 13.3, nvmlClocksEventReason*). */
public enum ClockEventReason {
    GPU_IDLE(0x1),
    APPLICATIONS_CLOCKS_SETTING(0x2),
    SW_POWER_CAP(0x4),
    HW_SLOWDOWN(0x8),
    SYNC_BOOST(0x10),
    SW_THERMAL_SLOWDOWN(0x20),
    HW_THERMAL_SLOWDOWN(0x40),
    HW_POWER_BRAKE_SLOWDOWN(0x80),
    DISPLAY_CLOCK_SETTING(0x100),
    /** Bits that a newer driver may add. */
    OTHER(~0x1ffL);

    private static final List<ClockEventReason> ALL = List.of(values());

    private final long bits;
    private final String label;

    ClockEventReason(long bits) {
        this.bits = bits;
        this.label = name().toLowerCase(Locale.ROOT);
    }

    /** Returns all of them, without an allocation. */
    public static List<ClockEventReason> all() {
        return ALL;
    }

    /** Returns the reasons that are set in this mask. */
    public static List<ClockEventReason> in(long mask) {
        return Stream.of(values()).filter(reason -> reason.isIn(mask)).toList();
    }

    /** Returns the value of the metric's label: "hw_slowdown". */
    public String label() {
        return label;
    }

    public boolean isIn(long mask) {
        return (mask & bits) != 0;
    }
}
