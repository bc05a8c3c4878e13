package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.daemon.kube.KubernetesOptions.Part;
import dev.gpuwarden.daemon.sink.Forwarder;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The connection of this node to the Kubernetes API, with its writers and their state. Closed last. */
public final class KubernetesNode implements AutoCloseable {

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

    /**
     * Starts writing conditions, labels and counts of Events. Callers report changes with {@link
     * NodeReconciler#wake}.
     */
    public NodeReconciler start(NodeReconciler.NodeStatusSource facts) {
        return start(facts, NodeReconciler.READ_INTERVAL);
    }

    NodeReconciler start(NodeReconciler.NodeStatusSource facts, Duration readInterval) {
        NodeReconciler reconciler = new NodeReconciler(this, facts, readInterval);
        reconciler.start();
        return reconciler;
    }

    /**
     * Returns why conditions or labels could not be written; empty while they are up to date. Errors of Events are
     * reported as those of a sink.
     */
    public Optional<String> trouble() {
        return stats().entrySet().stream()
                .filter(kind -> !kind.getKey().equals(ApiRequest.Kind.events.name()))
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
        return what + " of Node " + name + " at " + access + (dryRun ? ", as a dry run" : "");
    }

    @Override
    public void close() {
        client.close();
    }
}
