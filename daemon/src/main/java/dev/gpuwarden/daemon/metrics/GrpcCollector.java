package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.daemon.grpc.CallStats;
import io.prometheus.metrics.model.snapshots.Labels;

/** Clients, calls and refusals of the gRPC server. */
public final class GrpcCollector implements Collector {

    private final CallStats stats;

    public GrpcCollector(CallStats stats) {
        this.stats = stats;
    }

    @Override
    public String name() {
        return "grpc";
    }

    @Override
    public void collect(Scrape scrape, Family.Series out) {
        stats.eachEnded((ended, count) -> out.add(
                "gpuwarden_grpc_calls",
                Labels.of(
                        "code", ended.code().name(),
                        "method", ended.method(),
                        "service", ended.service()),
                count));
        out.add("gpuwarden_grpc_open_calls", Labels.EMPTY, stats.calls());
        out.add("gpuwarden_grpc_watches", Labels.EMPTY, stats.watchers());
        out.add("gpuwarden_grpc_connections", Labels.EMPTY, stats.connections());
        out.add("gpuwarden_grpc_held_bytes", Labels.EMPTY, stats.heldBytes());
        for (CallStats.Refusal why : CallStats.Refusal.values()) {
            out.add("gpuwarden_grpc_refused", Labels.of("cause", why.label()), stats.refusals(why));
        }
    }
}
