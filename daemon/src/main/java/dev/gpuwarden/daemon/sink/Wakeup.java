package dev.gpuwarden.daemon.sink;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Wakes the one thread that waits for it. Rung often meanwhile, it wakes once. */
public final class Wakeup {

    private final Semaphore rung = new Semaphore(0);

    public void ring() {
        if (rung.availablePermits() == 0) {
            rung.release();
        }
    }

    /** Returns when it is rung, was rung since the last time, or when the time is over. */
    public void await(long nanos) throws InterruptedException {
        var unused = rung.tryAcquire(nanos, TimeUnit.NANOSECONDS);
        rung.drainPermits();
    }
}
