package dev.gpuwarden.watchdog.pressure;

/** A state that begins after some of the last readings were low, and ends after a time without one that is not high. */
final class Hysteresis {

    private final PressureRules rules;
    private long recent;
    private boolean on;
    private long sinceNanos;
    private long lastLowNanos;

    Hysteresis(PressureRules rules) {
        this.rules = rules;
    }

    /**
     * Adds a reading.
     *
     * @param low whether it is below its limit
     * @param high whether it is above limit and margin
     */
    void add(boolean low, boolean high, long nanos) {
        long window = rules.samples() == Long.SIZE ? -1L : (1L << rules.samples()) - 1;
        recent = (recent << 1 | (low ? 1 : 0)) & window;
        if (!high) {
            lastLowNanos = nanos;
        }
        if (!on && Long.bitCount(recent) >= rules.least()) {
            on = true;
            sinceNanos = nanos;
        } else if (on && high && nanos - lastLowNanos >= rules.leaveAfter().toNanos()) {
            on = false;
        }
    }

    boolean on() {
        return on;
    }

    long sinceNanos() {
        return sinceNanos;
    }
}
