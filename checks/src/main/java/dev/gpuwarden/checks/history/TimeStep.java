package dev.gpuwarden.checks.history;

import dev.gpuwarden.core.check.GpuHistory;
import java.time.Duration;

/** Numbers steps of 15 seconds. */
final class TimeStep {

    static final Duration LENGTH = Duration.ofSeconds(15);

    /** The steps of the longest window. */
    static final int MOST = (int) GpuHistory.LONGEST.dividedBy(LENGTH);

    private static final long NANOS = LENGTH.toNanos();

    private TimeStep() {}

    /** Returns the number of a step. An int of steps covers a thousand years. */
    static int of(long nanos) {
        return (int) Math.floorDiv(nanos, NANOS);
    }

    /** Returns the number of steps in a window. */
    static int count(Duration window) {
        if (window.compareTo(LENGTH) < 0 || window.compareTo(GpuHistory.LONGEST) > 0) {
            throw new IllegalArgumentException("expected a window from " + LENGTH.toSeconds() + " s to "
                    + GpuHistory.LONGEST.toSeconds() + " s, but was " + window.toSeconds() + " s");
        }
        // Not dividedBy, which converts both to decimals: checks call this some hundred times in a round.
        return (int) (window.toNanos() / NANOS);
    }
}
