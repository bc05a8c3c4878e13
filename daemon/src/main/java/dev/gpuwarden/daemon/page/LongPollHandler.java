package dev.gpuwarden.daemon.page;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.core.event.EventReader;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A long poll: `/api/v1/news?seen=N&wait=SECONDS` answers once an event was stored that the page has not seen, or
 * after that time.
 */
public final class LongPollHandler implements HttpHandler, AutoCloseable {

    private static final String PATH = "/api/v1/news";

    /** The longest wait, below the server's limit for an answer and the timeouts of proxies. */
    private static final long LONGEST_WAIT_SECONDS = 10;

    /** The number of requests that wait at one time: one for each open page. A page without one polls every few seconds. */
    private static final int PAGES = 16;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition added = lock.newCondition();
    private final EventReader.Subscription subscription;
    private long count;

    public LongPollHandler(EventReader events) {
        subscription = events.listen(event -> add());
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

    @Override
    public boolean has(String path) {
        return path.equals(PATH);
    }

    @Override
    public Limits limits() {
        return Limits.READING.withThreads(PAGES);
    }

    @Override
    public HttpAnswer answer(Request request) throws InterruptedException {
        long seen = request.number("seen", 0, Long.MAX_VALUE).orElse(0L);
        long seconds = request.number("wait", 0, LONGEST_WAIT_SECONDS).orElse(0L);
        return HttpAnswer.json(Output.json(Map.of("seen", await(seen, TimeUnit.SECONDS.toNanos(seconds)))));
    }

    /** Blocks until the count of events differs from {@code seen}, or for {@code left} nanoseconds; returns the count. */
    private long await(long seen, long left) throws InterruptedException {
        lock.lock();
        try {
            while (count == seen && left > 0) {
                left = added.awaitNanos(left);
            }
            return count;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        subscription.close();
    }
}
