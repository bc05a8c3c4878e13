package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * The end of a measurement before its result. Its caller requests it, has gone, or most of the deadline has passed: the rest is for
 * giving memory back. Thread-safe.
 */
final class StopSignal {

    private final BooleanSupplier requested;
    private final Duration deadline;
    private final long beganNanos = System.nanoTime();
    private volatile boolean over;

    /** @param requested is called by several threads */
    StopSignal(BooleanSupplier requested, Duration deadline) {
        this.requested = requested;
        this.deadline = deadline;
    }

    /** Returns the time until the deadline. */
    Duration left() {
        return deadline.minusNanos(System.nanoTime() - beganNanos);
    }

    Duration deadline() {
        return deadline;
    }

    /** Ends what still runs, since no caller waits for it. */
    void end() {
        over = true;
    }

    boolean isSet() {
        return over || requested.getAsBoolean() || isLate();
    }

    private boolean isLate() {
        return left().compareTo(deadline.dividedBy(10)) < 0;
    }

    /** Throws {@link NoResult} if it is set. */
    void check() {
        if (isSet()) {
            throw isLate()
                    ? new NoResult(Absence.STALE, "not complete after nine tenths of " + deadline.toMillis() + " ms")
                    : new NoResult(Absence.NO_DATA, "stopped by its caller");
        }
    }
}
