package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.control.Steering;
import dev.gpuwarden.aggregator.health.NodeHealths;
import dev.gpuwarden.aggregator.ingest.IngestServer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Whether nodes may come, and the cluster takes what they tell. Asks it when it is asked itself, at most once in a while. */
final class Readiness {

    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final ClusterApi api;
    private final IngestServer server;
    private final Optional<Steering> steering;
    private List<String> last = List.of();
    private long lookedNanos = System.nanoTime() - FRESH_NANOS;

    Readiness(ClusterApi api, IngestServer server, Optional<Steering> steering) {
        this.api = api;
        this.server = server;
        this.steering = steering;
    }

    /** What is waited for; empty if nothing. Blocks while the API server is asked. */
    synchronized List<String> pending() throws InterruptedException {
        if (!server.listens()) {
            return List.of("no node may come yet: the cluster has not told all "
                    + String.join(", ", steering.map(Steering::waitingFor).orElse(Set.of())));
        }
        if (System.nanoTime() - lookedNanos >= FRESH_NANOS) {
            last = look();
            lookedNanos = System.nanoTime();
        }
        return last;
    }

    private List<String> look() throws InterruptedException {
        try {
            var unused = api.get(NodeHealths.ONE);
            return List.of();
        } catch (ClusterException e) {
            return List.of("the cluster does not tell NodeHealths: " + e.getMessage());
        }
    }
}
