package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.Threads;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Sends what one sink lacks, in order, and tells the store what it has taken. Sleeps while there is nothing. What was sent and
 * not acknowledged when the daemon ends is sent again: a sink gets every event at least once.
 */
public final class Forwarder implements Runnable, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Forwarder.class.getName());
    /** So many at once: a sink that was away for long is not buried, and what fails is soon tried again. */
    static final int BATCH = 100;

    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(2), 0.5);

    private final Sink sink;
    private final Outbox outbox;
    private final Semaphore news = new Semaphore(1);
    private final EventReader.Subscription subscription;
    private final Thread thread;
    private final CountDownLatch ended = new CountDownLatch(1);
    private int failuresInARow;
    private volatile boolean stopped;
    // Written by the forwarder's own thread alone.
    private volatile long sent;
    private volatile long refused;
    private volatile long failures;
    private volatile String lastError = "";

    private Forwarder(Sink sink, Outbox outbox, EventReader book) {
        this.sink = sink;
        this.outbox = outbox;
        this.subscription = book.listen(told -> ring());
        this.thread = Threads.daemon("gpuwarden-sink-" + sink.name(), this);
    }

    /** Begins where the sink left off, or with the next event if it is new. */
    public static Forwarder start(Sink sink, Outbox outbox, EventReader book) {
        outbox.register(sink.name());
        Forwarder forwarder = new Forwarder(sink, outbox, book);
        forwarder.thread.start();
        return forwarder;
    }

    public SinkStats stats() {
        return new SinkStats(sink.name(), sent, refused, failures, lastError, outbox.lag(sink.name()));
    }

    private void ring() {
        if (news.availablePermits() == 0) {
            news.release();
        }
    }

    @Override
    public void run() {
        try {
            while (!stopped) {
                news.acquire();
                news.drainPermits();
                sendAll();
            }
        } catch (InterruptedException e) {
            // The daemon ends; what is left is sent by the next one.
            Thread.currentThread().interrupt();
        } finally {
            sink.close();
        }
    }

    private void sendAll() throws InterruptedException {
        while (!stopped) {
            try {
                List<StoredEvent> events = outbox.next(sink.name(), BATCH);
                if (events.isEmpty()) {
                    return;
                }
                send(events);
            } catch (IOException | RuntimeException e) {
                failed(e);
            }
        }
    }

    private void send(List<StoredEvent> events) throws IOException, InterruptedException {
        try {
            sink.send(events);
            taken(events);
            sent += events.size();
        } catch (Sink.RefusedException e) {
            sift(events, e);
        }
    }

    /** One that is never taken must not hold up the others: found by halving, left out, counted. */
    private void sift(List<StoredEvent> events, Sink.RefusedException cause) throws IOException, InterruptedException {
        if (events.size() > 1) {
            send(events.subList(0, events.size() / 2));
            return;
        }
        LOG.log(
                Level.WARNING,
                "sink " + sink.name() + " refuses event "
                        + events.get(0).event().id() + ", which it will not get: " + cause.getMessage());
        refused++;
        taken(events);
    }

    private void taken(List<StoredEvent> events) {
        outbox.acknowledge(sink.name(), events.get(events.size() - 1).sequence());
        if (failuresInARow > 0) {
            LOG.log(Level.INFO, "sink " + sink.name() + " takes events again");
        }
        failuresInARow = 0;
        lastError = "";
    }

    private void failed(Exception cause) throws InterruptedException {
        // First the cause: whoever sees that it failed sees why.
        lastError = String.valueOf(cause.getMessage());
        failures++;
        if (failuresInARow == 0) {
            LOG.log(Level.WARNING, "sink " + sink.name() + " takes no events; they are kept and tried again: " + cause);
        }
        failuresInARow++;
        Duration wait = RETRY.pause(failuresInARow);
        // Not on the semaphore: news are no reason to try sooner.
        ended.await(wait.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        stopped = true;
        ended.countDown();
        subscription.close();
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(2));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
