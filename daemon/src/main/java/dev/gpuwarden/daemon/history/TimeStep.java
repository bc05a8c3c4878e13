package dev.gpuwarden.daemon.history;

import dev.gpuwarden.core.check.GpuHistory;
import java.time.Duration;

/** Time in steps of 15 seconds, numbered. */
final class TimeStep {

    static final Duration LENGTH = Duration.ofSeconds(15);

    /** Steps of the longest window. */
    static final int MOST = (int) GpuHistory.LONGEST.dividedBy(LENGTH);

    private static final long NANOS = LENGTH.toNanos();

    private TimeStep() {}

    /** Fits: an int of steps is a thousand years. */
    static int of(long nanos) {
        return (int) Math.floorDiv(nanos, NANOS);
    }

    /** How many steps a window is. */
    static int count(Duration window) {
        if (window.compareTo(LENGTH) < 0 || window.compareTo(GpuHistory.LONGEST) > 0) {
            throw new IllegalArgumentException("expected a window from " + LENGTH.toSeconds() + " s to "
                    + GpuHistory.LONGEST.toSeconds() + " s, but was " + window.toSeconds() + " s");
        }
        // Not dividedBy, which makes decimal numbers of both: checks ask some hundred times in a round.
        return (int) (window.toNanos() / NANOS);
    }
}
