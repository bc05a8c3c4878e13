package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.limit.Backoff;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Pauses between attempts, from 500 ms and doubled after each failure. One thread waits; any thread may close it. */
final class RetryPause {

    private static final Duration FIRST = Duration.ofMillis(500);

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Backoff backoff;
    private int failures;

    RetryPause(Duration longest) {
        backoff = Backoff.exact(FIRST, longest);
    }

    boolean isClosed() {
        return closed.getCount() == 0;
    }

    /** Ends the current pause and makes all later ones empty. */
    void close() {
        closed.countDown();
    }

    /** Starts with the shortest pause again, after a success. */
    void reset() {
        failures = 0;
    }

    /** Waits for the next pause. Returns early when closed; an interrupt closes. */
    void await() {
        pause(backoff.pause(++failures));
    }

    /** Waits for this time. Returns early when closed; an interrupt closes. */
    void pause(Duration length) {
        try {
            if (closed.await(length.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
        }
    }
}
