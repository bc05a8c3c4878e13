package dev.gpuwarden.daemon.metrics;

import java.util.List;
import java.util.Locale;

/** Bits of {@code CLOCK_EVENT_REASONS} (nvml.h 13.3, nvmlClocksEventReason*). */
enum ClockEventReason {
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

    static List<ClockEventReason> all() {
        return ALL;
    }

    String label() {
        return label;
    }

    boolean in(long mask) {
        return (mask & bits) != 0;
    }
}
