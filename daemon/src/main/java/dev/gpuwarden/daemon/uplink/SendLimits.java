package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.v1.FlowLimits;
import java.util.concurrent.TimeUnit;

/**
 * The aggregator's flow limits, restricted to safe ranges.
 *
 * @param window the number of events that may be sent and not acknowledged
 * @param eventNanos between two events
 * @param heartbeatNanos the longest time without a message of the node
 */
record SendLimits(int window, long eventNanos, long heartbeatNanos) {

    static final int WINDOW = 100;
    static final int WIDEST_WINDOW = 1000;
    private static final double HEARTBEAT_SECONDS = 30;
    private static final double LONGEST_SECONDS = 600;
    private static final double NANOS = TimeUnit.SECONDS.toNanos(1);

    static SendLimits of(FlowLimits limits) {
        int asked = limits.getMaxUnacknowledgedEvents();
        double rate = limits.getMaxEventsPerSecond();
        double heartbeat = limits.getHeartbeatPeriodSeconds();
        return new SendLimits(
                asked > 0 ? Math.min(asked, WIDEST_WINDOW) : WINDOW,
                rate > 0 ? (long) (Math.min(1 / rate, LONGEST_SECONDS) * NANOS) : 0,
                (long) ((heartbeat > 0 ? Math.max(1, Math.min(heartbeat, LONGEST_SECONDS)) : HEARTBEAT_SECONDS)
                        * NANOS));
    }
}
