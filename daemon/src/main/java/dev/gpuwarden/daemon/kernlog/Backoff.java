package dev.gpuwarden.daemon.kernlog;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Pauses between attempts, from 500 ms and doubled after each failure. One thread waits; any thread may close it. */
final class Backoff {

    private static final long FIRST_MILLIS = 500;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final long longestMillis;
    private long nextMillis = FIRST_MILLIS;

    Backoff(Duration longest) {
        longestMillis = longest.toMillis();
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
        nextMillis = FIRST_MILLIS;
    }

    /** Waits for the next pause. Returns early when closed; an interrupt closes. */
    void await() {
        long millis = nextMillis;
        nextMillis = Math.min(2 * nextMillis, longestMillis);
        pause(Duration.ofMillis(millis));
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
