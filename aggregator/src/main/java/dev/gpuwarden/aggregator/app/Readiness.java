package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.health.NodeHealths;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Whether the cluster takes what nodes tell. Asks it when it is asked itself, at most once in a while. */
final class Readiness {

    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final ClusterApi api;
    private List<String> last = List.of();
    private long lookedNanos = System.nanoTime() - FRESH_NANOS;

    Readiness(ClusterApi api) {
        this.api = api;
    }

    /** What is waited for; empty if nothing. Blocks while the API server is asked. */
    synchronized List<String> pending() throws InterruptedException {
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
