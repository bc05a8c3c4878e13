package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.daemon.kube.KubeStats;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Map;
import java.util.function.Supplier;

/** Requests to the Kubernetes API and their results. A kind of request has no series before its first request. */
public final class KubernetesCollector implements Collector {

    private static final Family REQUESTS = Family.counter(
            "gpuwarden_kubernetes_requests",
            "Requests to the API server, by result: refused is an answer of 4xx, failed is none or 5xx.");
    private static final Family UP =
            Family.gauge("gpuwarden_kubernetes_up", "1 if the last request of this kind succeeded, otherwise 0.");
    private static final Family SUCCESS = Family.gauge(
            "gpuwarden_kubernetes_last_success_timestamp",
            "seconds",
            "Time of the last successful request of this kind, in seconds since 1970.");

    private final Supplier<Map<String, KubeStats>> stats;

    /** @param stats by the kind of request */
    public KubernetesCollector(Supplier<Map<String, KubeStats>> stats) {
        this.stats = stats;
    }

    @Override
    public String name() {
        return "kubernetes";
    }

    @Override
    public void collect(Scrape scrape, Family.Series out) {
        stats.get().forEach((kind, of) -> {
            out.add(REQUESTS, Labels.of("kind", kind, "result", "ok"), of.ok());
            out.add(REQUESTS, Labels.of("kind", kind, "result", "refused"), of.refused());
            out.add(REQUESTS, Labels.of("kind", kind, "result", "failed"), of.failed());
            Labels labels = Labels.of("kind", kind);
            out.add(UP, labels, of.lastError().isEmpty() ? 1 : 0);
            of.lastSuccess().ifPresent(at -> out.add(SUCCESS, labels, at.toEpochMilli() / 1e3));
        });
    }
}
