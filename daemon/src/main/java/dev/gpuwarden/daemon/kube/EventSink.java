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

/**
 * The sink that writes Kubernetes Events. Similar events that come together become one Event, and the rate is
 * limited.
 */
final class EventSink implements Sink {

    private static final System.Logger LOG = System.getLogger(EventSink.class.getName());

    /**
     * The rate limit. The API server keeps each Event for an hour in etcd: a storm on each of 10,000 nodes must not
     * fill it.
     */
    private static final int BURST = 20;

    private static final Duration EACH = Duration.ofSeconds(3);

    private final String node;
    private final boolean dryRun;
    private final KubeClient client;
    private final EventRepeats repeats;
    private final RateLimiter limiter = new RateLimiter(BURST, EACH, System.nanoTime());
    private final CountDownLatch closed = new CountDownLatch(1);

    EventSink(String node, boolean dryRun, KubeClient client, EventRepeats repeats) {
        this.node = node;
        this.dryRun = dryRun;
        this.client = client;
        this.repeats = repeats;
    }

    /** Returns the name of the sink. A dry run has a name of its own, so that its events remain to be sent. */
    @Override
    public String name() {
        return dryRun ? "kubernetes-dry-run" : "kubernetes";
    }

    @Override
    public void send(List<StoredEvent> events) throws IOException, InterruptedException {
        for (EventObject event : EventObject.of(repeats.published(events), node)) {
            try {
                put(event);
            } catch (KubeException e) {
                throw e.refused() ? new RefusedException(String.valueOf(e.getMessage())) : e;
            }
        }
    }

    private void put(EventObject event) throws KubeException, InterruptedException {
        if (closed.await(limiter.waitNanos(System.nanoTime()), TimeUnit.NANOSECONDS)) {
            throw new InterruptedException("the daemon ends");
        }
        limiter.take(System.nanoTime());
        boolean made = client.ask(ApiRequest.event(event.body(node, ApiRequest.MANAGER)))
                .isPresent();
        repeats.sent(event);
        if (dryRun) {
            LOG.log(
                    Level.INFO,
                    "dry run: would write for Node " + node + ": Event " + event.type() + " " + event.reason() + " ("
                            + event.message() + ")");
        } else if (!made) {
            // It was sent before but not acknowledged in the store: its count may have grown since.
            var unused = client.ask(ApiRequest.event(event.name(), event.told()));
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
