package dev.gpuwarden.aggregator.control;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.Kind;
import dev.gpuwarden.aggregator.cluster.Mirror;
import dev.gpuwarden.aggregator.cluster.ToldAll;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** All that is followed of the cluster, and what of it has not been told completely yet. Thread-safe. */
final class Sources implements AutoCloseable {

    private final ClusterApi api;
    private final Runnable complete;
    private final List<Mirror> mirrors = new ArrayList<>();
    private final Set<String> waiting = new TreeSet<>();

    /** @param complete told each time when something has been told completely for the first time */
    Sources(ClusterApi api, Runnable complete) {
        this.api = api;
        this.complete = complete;
    }

    Mirror follow(Kind kind, Mirror.Listener listener) {
        synchronized (this) {
            waiting.add(kind.plural());
        }
        Mirror mirror = api.mirror(kind, new ToldAll(listener, () -> {
            if (told(kind)) {
                complete.run();
            }
        }));
        mirrors.add(mirror);
        return mirror;
    }

    private synchronized boolean told(Kind kind) {
        return waiting.remove(kind.plural());
    }

    /** By its plural. */
    synchronized Set<String> waitingFor() {
        return new TreeSet<>(waiting);
    }

    @Override
    public void close() {
        mirrors.forEach(Mirror::close);
    }
}
