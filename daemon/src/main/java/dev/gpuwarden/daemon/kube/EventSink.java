package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.uplink.Sink;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Kubernetes as one that takes events: what is alike and comes together is one Event, and there are never many a minute. */
final class EventSink implements Sink {

    /** The API server keeps each for an hour, in the memory of etcd: a storm on each of 10,000 nodes must not fill that. */
    private static final int BURST = 20;

    private static final Duration EACH = Duration.ofSeconds(3);

    private final String name;
    private final String node;
    private final KubeClient client;
    private final EventNews news;
    private final Pace pace = new Pace(BURST, EACH, System.nanoTime());
    private final CountDownLatch closed = new CountDownLatch(1);

    /** @param name a dry run has another: what it would have told is told when it ends to be one */
    EventSink(String name, String node, KubeClient client, EventNews news) {
        this.name = name;
        this.node = node;
        this.client = client;
        this.news = news;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void send(List<StoredEvent> events) throws IOException, InterruptedException {
        for (EventObject event : EventObject.of(news.worthTelling(events), node)) {
            try {
                put(event);
            } catch (KubeException e) {
                throw e.refused() ? new RefusedException(String.valueOf(e.getMessage())) : e;
            }
        }
    }

    private void put(EventObject event) throws KubeException, InterruptedException {
        if (closed.await(pace.waitNanos(System.nanoTime()), TimeUnit.NANOSECONDS)) {
            throw new InterruptedException("the daemon ends");
        }
        pace.take(System.nanoTime());
        boolean made = client.ask(Request.event(event.body(node))).isPresent();
        if (!made) {
            // Sent before, and not noted: since then it may stand for more.
            var unused = client.ask(Request.event(event.name(), event.told()));
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
