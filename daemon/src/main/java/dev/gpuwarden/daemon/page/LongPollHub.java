package dev.gpuwarden.daemon.page;

import dev.gpuwarden.core.event.EventReader;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A hub in which requests wait for the next event. Thread-safe. */
final class LongPollHub implements AutoCloseable {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition added = lock.newCondition();
    private final EventReader.Subscription subscription;
    private long count;

    LongPollHub(EventReader book) {
        subscription = book.listen(event -> add());
    }

    private void add() {
        lock.lock();
        try {
            count++;
            added.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of events so far. Read it before the data, and wait with it if the data has not changed. */
    long count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** Blocks until the count differs from {@code seen}, or for {@code longest}. */
    void await(long seen, Duration longest) throws InterruptedException {
        long left = longest.toNanos();
        lock.lock();
        try {
            while (count == seen && left > 0) {
                left = added.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        subscription.close();
    }
}
