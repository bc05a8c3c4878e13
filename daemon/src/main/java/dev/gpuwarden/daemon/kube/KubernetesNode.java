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

/** This node in the Kubernetes API: what is written to it, and how that goes. Holds the one connection; closed last. */
public final class KubernetesNode implements AutoCloseable {

    private final String name;
    private final Set<Part> parts;
    private final boolean dryRun;
    private final KubeAccess access;
    private final Clock clock;
    private final KubeCounters tally = new KubeCounters();
    private final EventRepeats news = new EventRepeats();
    private final KubeClient client;

    KubernetesNode(String name, Set<Part> parts, boolean dryRun, KubeAccess access, Clock clock) {
        this.name = name;
        this.parts = Collections.unmodifiableSet(EnumSet.copyOf(parts));
        this.dryRun = dryRun;
        this.access = access;
        this.clock = clock;
        this.client = new KubeClient(access, dryRun, clock, tally);
    }

    /** Events from now on, or from where the last daemon ended. Blocks until the outbox knows of it. */
    public Optional<Forwarder> startEvents(Outbox outbox, EventReader book) {
        if (!parts.contains(Part.events)) {
            return Optional.empty();
        }
        // The book goes when the daemon does, and nobody stops telling Kubernetes before.
        var unused = book.listen(news::hear);
        EventSink sink = new EventSink(name, dryRun, client, news);
        return Optional.of(Forwarder.start(sink, outbox, book));
    }

    /** Conditions and labels, and counts of Events. Whoever knows that something changed calls {@link NodeReconciler#look}. */
    public NodeReconciler start(NodeStatusSource facts) {
        return start(facts, NodeReconciler.LOOK_AGAIN);
    }

    NodeReconciler start(NodeStatusSource facts, Duration lookAgain) {
        NodeReconciler writer = new NodeReconciler(this, client, tally, news, facts, clock, lookAgain);
        writer.start();
        return writer;
    }

    String name() {
        return name;
    }

    Set<Part> parts() {
        return parts;
    }

    boolean dryRun() {
        return dryRun;
    }

    /** Why conditions or labels are not as they must be; empty while they are. Events are told of as those of a sink. */
    public Optional<String> trouble() {
        return stats().entrySet().stream()
                .filter(kind -> !kind.getKey().equals(ApiRequest.Kind.events.name()))
                .map(kind -> kind.getValue().lastError())
                .filter(error -> !error.isEmpty())
                .findFirst();
    }

    /** By the kind of request. */
    public Map<String, KubeStats> stats() {
        return tally.stats();
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
