package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.daemon.kube.KubernetesOptions.Part;
import dev.gpuwarden.daemon.sink.Forwarder;
import dev.gpuwarden.daemon.sink.Sink;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The connection of this node to the Kubernetes API, with its writers and their state. Closed last. */
public final class KubernetesNode implements AutoCloseable {

    /** Kinds of requests whose errors are reported elsewhere. */
    private static final Set<String> ELSEWHERE = Set.of(ApiRequest.Kind.events.name(), ApiRequest.Kind.removals.name());

    final String name;
    final Set<Part> parts;
    final boolean dryRun;
    private final KubeAccess access;
    final Clock clock;
    final KubeCounters counters = new KubeCounters();
    final EventRepeats repeats = new EventRepeats();
    final KubeClient client;

    KubernetesNode(String name, Set<Part> parts, boolean dryRun, KubeAccess access, Clock clock) {
        this.name = name;
        this.parts = Collections.unmodifiableSet(EnumSet.copyOf(parts));
        this.dryRun = dryRun;
        this.access = access;
        this.clock = clock;
        this.client = new KubeClient(access, dryRun, clock, counters);
    }

    /**
     * Starts writing Events, from now on or from the last daemon's position. Blocks until the outbox has registered
     * the sink.
     */
    public Optional<Forwarder> startEvents(Outbox outbox, EventReader book) {
        if (!parts.contains(Part.events)) {
            return Optional.empty();
        }
        // Not closed: both the event store and this listener last as long as the daemon.
        var unused = book.listen(repeats::add);
        EventSink sink = new EventSink(name, dryRun, client, repeats);
        return Optional.of(Forwarder.start(sink, outbox, book));
    }

    /** Starts writing conditions, labels and counts of Events. Callers report changes with {@link NodeReconciler#wake}. */
    public NodeReconciler start(NodeReconciler.NodeStatusSource facts) {
        return start(facts, NodeReconciler.READ_INTERVAL);
    }

    NodeReconciler start(NodeReconciler.NodeStatusSource facts, Duration readInterval) {
        NodeReconciler reconciler = new NodeReconciler(this, facts, readInterval);
        reconciler.start();
        return reconciler;
    }

    /** Returns the requests of other parts of the daemon. */
    public NodeApi api() {
        return new NodeApi(this);
    }

    /**
     * Returns why conditions or labels could not be written, or pods not be read; empty while they are up to date. Errors of
     * Events are reported as those of a sink, and those of removals are recorded with the decision.
     */
    public Optional<String> trouble() {
        return stats().entrySet().stream()
                .filter(kind -> !ELSEWHERE.contains(kind.getKey()))
                .map(kind -> kind.getValue().lastError())
                .filter(error -> !error.isEmpty())
                .findFirst();
    }

    /** Returns the results of requests, by kind. */
    public Map<String, KubeStats> stats() {
        return counters.stats();
    }

    @Override
    public String toString() {
        String what = parts.stream().map(Part::name).collect(Collectors.joining(", "));
        return (what.isEmpty() ? "VRAM budgets" : what) + " of Node " + name + " at " + access
                + (dryRun ? ", as a dry run" : "");
    }

    @Override
    public void close() {
        client.close();
    }

    /** The sink that writes Kubernetes Events. Similar events that come together become one Event, and the rate is limited. */
    static final class EventSink implements Sink {

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
        private final RateLimit limiter = new RateLimit(BURST, EACH.toNanos(), 1, System::nanoTime);
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
            if (closed.await(limiter.waitNanos(node), TimeUnit.NANOSECONDS)) {
                throw new InterruptedException("the daemon ends");
            }
            var unusedPermit = limiter.take(node);
            boolean made = client.ask(ApiRequest.event(event.body(node, ApiRequest.MANAGER)))
                    .isPresent();
            repeats.sent(event);
            if (dryRun) {
                LOG.log(
                        Level.INFO,
                        "dry run: would write for Node " + node + ": Event " + event.type() + " " + event.reason()
                                + " (" + event.message() + ")");
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
}
