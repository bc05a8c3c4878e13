package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.daemon.kube.KubeStats;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Map;
import java.util.function.Supplier;

/** Requests to the Kubernetes API and their results. A kind of request has no series before its first request. */
public final class KubernetesCollector implements Collector {

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
            out.add("gpuwarden_kubernetes_requests", Labels.of("kind", kind, "result", "ok"), of.ok());
            out.add("gpuwarden_kubernetes_requests", Labels.of("kind", kind, "result", "refused"), of.refused());
            out.add("gpuwarden_kubernetes_requests", Labels.of("kind", kind, "result", "failed"), of.failed());
            Labels labels = Labels.of("kind", kind);
            out.add("gpuwarden_kubernetes_up", labels, of.lastError().isEmpty() ? 1 : 0);
            of.lastSuccess()
                    .ifPresent(at -> out.add(
                            "gpuwarden_kubernetes_last_success_timestamp_seconds", labels, at.toEpochMilli() / 1e3));
        });
    }
}
