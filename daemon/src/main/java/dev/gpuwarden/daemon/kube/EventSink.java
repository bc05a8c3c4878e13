package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.sink.Sink;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Kubernetes as one that takes events: what is alike and comes together is one Event, and there are never many a minute. */
final class EventSink implements Sink {

    private static final System.Logger LOG = System.getLogger(EventSink.class.getName());

    /** The API server keeps each for an hour, in the memory of etcd: a storm on each of 10,000 nodes must not fill that. */
    private static final int BURST = 20;

    private static final Duration EACH = Duration.ofSeconds(3);

    private final String node;
    private final boolean dryRun;
    private final KubeClient client;
    private final EventRepeats news;
    private final RateLimiter pace = new RateLimiter(BURST, EACH, System.nanoTime());
    private final CountDownLatch closed = new CountDownLatch(1);

    EventSink(String node, boolean dryRun, KubeClient client, EventRepeats news) {
        this.node = node;
        this.dryRun = dryRun;
        this.client = client;
        this.news = news;
    }

    /** A dry run has another name: what it only pretended to tell is still to be told. */
    @Override
    public String name() {
        return dryRun ? "kubernetes-dry-run" : "kubernetes";
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
        boolean made = client.ask(ApiRequest.event(event.body(node, ApiRequest.MANAGER)))
                .isPresent();
        news.sent(event);
        if (dryRun) {
            LOG.log(
                    Level.INFO,
                    "dry run: would tell of Node " + node + ": Event " + event.type() + " " + event.reason() + " ("
                            + event.message() + ")");
        } else if (!made) {
            // Sent before, and not noted: since then it may stand for more.
            var unused = client.ask(ApiRequest.event(event.name(), event.told()));
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
