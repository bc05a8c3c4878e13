package dev.gpuwarden.nccl.run;

import java.time.Duration;

/** The end of the time that a rank may spend in calls of the library, for a supervisor: a call can hang where no deadline reaches. */
final class Patience {

    private static final long NONE = Long.MAX_VALUE;

    private volatile long endNanos = NONE;

    /** @param limit zero for none */
    void begin(Duration limit) {
        endNanos = limit.isZero() ? NONE : System.nanoTime() + limit.toNanos();
    }

    void end() {
        endNanos = NONE;
    }

    /** Returns whether the time was over at that moment. */
    boolean wasOver(long nanos) {
        long end = endNanos;
        return end != NONE && end - nanos <= 0;
    }

    /** Returns whether the time was over so long ago. */
    boolean isOver(Duration grace) {
        long end = endNanos;
        return end != NONE && System.nanoTime() - end > grace.toNanos();
    }
}
