package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.LoopThread;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;

/**
 * A thread that sends stored events to one sink, in order, and acknowledges them in the store. It sleeps while no
 * event waits. A sink receives every event at least once: events that were sent but not acknowledged when the daemon
 * ended are sent again.
 */
public final class Forwarder implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Forwarder.class.getName());
    /** Events of one request, so that a sink that was away is not flooded and a failed request is soon repeated. */
    static final int BATCH = 100;

    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(2), 0.5);

    private final Sink sink;
    private final Outbox outbox;
    private final EventReader.Subscription subscription;
    private final LoopThread thread;
    private int failuresInARow;
    private final SinkStats.Counters counters = new SinkStats.Counters();

    private Forwarder(Sink sink, Outbox outbox, EventReader book) {
        this.sink = sink;
        this.outbox = outbox;
        this.thread = new LoopThread("gpuwarden-sink-" + sink.name(), this::sendNext).atEnd(sink::close);
        this.subscription = book.listen(change -> thread.wake());
    }

    /** Starts after the sink's last acknowledgement, or with the next event for a new sink. */
    public static Forwarder start(Sink sink, Outbox outbox, EventReader book) {
        outbox.register(sink.name());
        Forwarder forwarder = new Forwarder(sink, outbox, book);
        forwarder.thread.start();
        return forwarder;
    }

    public SinkStats stats() {
        return counters.stats(sink.name(), outbox.lag(sink.name()));
    }

    /** Sends the next events, until none waits. */
    private long sendNext() throws InterruptedException {
        try {
            List<StoredEvent> events = outbox.next(sink.name(), BATCH);
            if (events.isEmpty()) {
                return LoopThread.UNTIL_WOKEN;
            }
            send(events);
        } catch (IOException | RuntimeException e) {
            failed(e);
        }
        return 0;
    }

    private void send(List<StoredEvent> events) throws IOException, InterruptedException {
        try {
            sink.send(events);
            taken(events);
            counters.acknowledged(events.size());
        } catch (Sink.RefusedException e) {
            sift(events, e);
        }
    }

    /** Finds the refused event by halving the request, skips it and counts it, so that it does not block the others. */
    private void sift(List<StoredEvent> events, Sink.RefusedException cause) throws IOException, InterruptedException {
        if (events.size() > 1) {
            send(events.subList(0, events.size() / 2));
            return;
        }
        LOG.log(
                Level.WARNING,
                "sink " + sink.name() + " refuses event "
                        + events.get(0).event().id() + ", which it will not get: " + cause.getMessage());
        counters.refused();
        taken(events);
    }

    private void taken(List<StoredEvent> events) {
        outbox.acknowledge(sink.name(), events.get(events.size() - 1).sequence());
        if (failuresInARow > 0) {
            LOG.log(Level.INFO, "sink " + sink.name() + " takes events again");
        }
        failuresInARow = 0;
        counters.works();
    }

    private void failed(Exception cause) throws InterruptedException {
        counters.failed(String.valueOf(cause.getMessage()));
        if (failuresInARow == 0) {
            LOG.log(Level.WARNING, "sink " + sink.name() + " takes no events; they are kept and tried again: " + cause);
        }
        failuresInARow++;
        Duration wait = RETRY.pause(failuresInARow);
        // Not on the wakeup: a new event is no reason to try sooner.
        thread.pause(wait.toNanos());
    }

    @Override
    public void close() {
        subscription.close();
        // The next daemon sends the remaining events.
        thread.interrupt(Duration.ofSeconds(2));
    }
}
