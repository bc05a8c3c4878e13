package dev.gpuwarden.core.util;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A signal that wakes the one thread that waits for it. Several calls before it wakes count as one. Thread-safe. */
public final class Wakeup {

    private final Semaphore rung = new Semaphore(0);

    public void signal() {
        if (rung.availablePermits() == 0) {
            rung.release();
        }
    }

    /** Blocks until {@link #signal}, also one since the last wait, or until the time is over. */
    public void await(long nanos) throws InterruptedException {
        var unused = rung.tryAcquire(nanos, TimeUnit.NANOSECONDS);
        rung.drainPermits();
    }
}
