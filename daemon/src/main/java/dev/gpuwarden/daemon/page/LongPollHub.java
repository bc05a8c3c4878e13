package dev.gpuwarden.daemon.page;

import dev.gpuwarden.core.event.EventReader;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets a request wait until there is an event that it does not have. Thread-safe. */
final class LongPollHub implements AutoCloseable {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private final EventReader.Subscription subscription;
    private long told;

    LongPollHub(EventReader book) {
        subscription = book.listen(event -> ring());
    }

    private void ring() {
        lock.lock();
        try {
            told++;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** How often something was told so far: ask before looking, and wait with it after having found nothing. */
    long count() {
        lock.lock();
        try {
            return told;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until more was told than that, or so long. */
    void await(long seen, Duration longest) throws InterruptedException {
        long left = longest.toNanos();
        lock.lock();
        try {
            while (told == seen && left > 0) {
                left = news.awaitNanos(left);
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
