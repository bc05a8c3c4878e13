package dev.gpuwarden.daemon.kernlog;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Waits ever longer between attempts, and not at all once closed. */
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

    void close() {
        closed.countDown();
    }

    /** After a success: the next failure is a first one again. */
    void reset() {
        nextMillis = FIRST_MILLIS;
    }

    /** Returns early when closed or interrupted, which closes. */
    void await() {
        long millis = nextMillis;
        nextMillis = Math.min(2 * nextMillis, longestMillis);
        pause(Duration.ofMillis(millis));
    }

    /** Returns early when closed or interrupted, which closes. */
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
