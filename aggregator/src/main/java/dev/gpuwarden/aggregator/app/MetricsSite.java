package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.ingest.IngestServer;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** `/metrics`. */
final class MetricsSite implements HttpHandler {

    private final AggregatorMetrics metrics;

    MetricsSite(AggregatorMetrics metrics) {
        this.metrics = metrics;
    }

    @Override
    public boolean has(String path) {
        return path.equals("/metrics");
    }

    @Override
    public HttpAnswer answer(Request request) {
        return HttpAnswer.of(200, AggregatorMetrics.TYPE, metrics.text());
    }

    /** Whether nodes may come, and the cluster takes what they tell. Asks it when it is asked itself, at most once in a while. */
    static final class Readiness {

        private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

        private final KubeClient api;
        private final IngestServer server;
        private final Optional<Controllers> steering;
        private List<String> last = List.of();
        private long lookedNanos = System.nanoTime() - FRESH_NANOS;

        Readiness(KubeClient api, IngestServer server, Optional<Controllers> steering) {
            this.api = api;
            this.server = server;
            this.steering = steering;
        }

        /** What is waited for; empty if nothing. Blocks while the API server is asked. */
        synchronized List<String> pending() throws InterruptedException {
            if (!server.listens()) {
                return List.of("no node may come yet: the cluster has not told all "
                        + String.join(
                                ", ", steering.map(Controllers::waitingFor).orElse(Set.of())));
            }
            if (System.nanoTime() - lookedNanos >= FRESH_NANOS) {
                last = look();
                lookedNanos = System.nanoTime();
            }
            return last;
        }

        private List<String> look() throws InterruptedException {
            try {
                var unused = api.get(NodeHealthClient.ONE);
                return List.of();
            } catch (ApiException e) {
                return List.of("the cluster does not tell NodeHealths: " + e.getMessage());
            }
        }
    }
}
