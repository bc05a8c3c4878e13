package dev.gpuwarden.daemon.store;

/**
 * The times of scans for faults that found no room. A scan runs in slices; the pause after it is {@value #PAUSE_FACTOR} times as
 * long as the scan, so that scans take at most a tenth of the writer's time. Used by the writer's thread only.
 */
final class ScanTimer {

    private static final int PAUSE_FACTOR = 9;

    private final long intervalNanos;
    private long nextNanos = System.nanoTime();
    private long spentNanos;

    /** @param intervalNanos the shortest pause after a scan */
    ScanTimer(long intervalNanos) {
        this.intervalNanos = intervalNanos;
    }

    /** Returns when the next slice may run, in the clock of System.nanoTime. */
    long nextNanos() {
        return nextNanos;
    }

    boolean isDue(long nowNanos) {
        return nowNanos - nextNanos >= 0;
    }

    /**
     * Adds the time of a slice and sets the time of the next one.
     *
     * @param ended true after the last slice of a scan
     */
    void sliceEnded(long beganNanos, long nowNanos, boolean ended) {
        spentNanos += nowNanos - beganNanos;
        nextNanos = nowNanos;
        if (ended) {
            nextNanos += Math.max(intervalNanos, PAUSE_FACTOR * spentNanos);
            spentNanos = 0;
        }
    }
}
