package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.ingest.IngestServer;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The readiness of this replica: nodes can connect, and the API server serves NodeHealths. A read of the readiness sends a
 * request to the API server, at most every 5 s.
 */
final class Readiness {

    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final KubeClient api;
    private final IngestServer server;
    private final Supplier<Set<String>> waitingFor;
    private List<String> last = List.of();
    private long lookedNanos = System.nanoTime() - FRESH_NANOS;

    /** @param waitingFor kinds whose first list has not arrived yet; must not block */
    Readiness(KubeClient api, IngestServer server, Supplier<Set<String>> waitingFor) {
        this.api = api;
        this.server = server;
        this.waitingFor = waitingFor;
    }

    /** Returns the causes of not being ready; empty if ready. Blocks for the API server's answer. */
    synchronized List<String> pending() throws InterruptedException {
        if (!server.listens()) {
            return List.of(
                    "no daemon can connect yet: waiting for the first list of " + String.join(", ", waitingFor.get()));
        }
        if (System.nanoTime() - lookedNanos >= FRESH_NANOS) {
            last = check();
            lookedNanos = System.nanoTime();
        }
        return last;
    }

    private List<String> check() throws InterruptedException {
        try {
            var unused = api.get(NodeHealthClient.ONE);
            return List.of();
        } catch (ApiException e) {
            return List.of("cannot read NodeHealths from the API server: " + e.getMessage());
        }
    }
}
