package dev.gpuwarden.nat.cuda;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A moment that measurements on several GPUs have in common: their begin, so that they share links, power and cooling, or their end. */
final class Rendezvous {

    private final CountDownLatch ready;
    private final Duration deadline;

    Rendezvous(int gpus, Duration deadline) {
        this.ready = new CountDownLatch(gpus);
        this.deadline = deadline;
    }

    /** Counts one GPU, whether it measures or not. */
    void arrive() {
        ready.countDown();
    }

    /**
     * Counts this GPU and waits for the others. It does not wait for the whole deadline: a GPU that hangs before would take the others with
     * it.
     */
    void arriveAndWait() {
        arrive();
        try {
            var unused = ready.await(deadline.toNanos() / 2, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
