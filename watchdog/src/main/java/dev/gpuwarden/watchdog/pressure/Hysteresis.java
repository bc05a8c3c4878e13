package dev.gpuwarden.watchdog.pressure;

/**
 * A state that begins after some of the last readings were low, and ends after a time without one that is not high.
 *
 * @param recent the last readings, the newest in the lowest bit; set where it was low
 * @param sinceNanos its begin; of no meaning before the first one
 * @param lastLowNanos time of the last reading that was not high; of no meaning before the first one
 */
public record Hysteresis(long recent, boolean on, long sinceNanos, long lastLowNanos) {

    static final Hysteresis OFF = new Hysteresis(0, false, 0, 0);

    /**
     * Returns the state after a reading.
     *
     * @param low whether it is below its limit
     * @param high whether it is above limit and margin
     */
    Hysteresis after(boolean low, boolean high, long nanos, PressureRules rules) {
        long window = rules.samples() == Long.SIZE ? -1L : (1L << rules.samples()) - 1;
        long last = (recent << 1 | (low ? 1 : 0)) & window;
        long lastLow = high ? lastLowNanos : nanos;
        boolean begins = !on && Long.bitCount(last) >= rules.least();
        boolean ends = on && high && nanos - lastLow >= rules.leaveAfter().toNanos();
        return new Hysteresis(last, begins || on && !ends, begins ? nanos : sinceNanos, lastLow);
    }

    /** Returns whether the last reading was low, and enough of those before it to begin this state. */
    boolean isBreached(PressureRules rules) {
        return (recent & 1) != 0 && Long.bitCount(recent) >= rules.least();
    }
}
