package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.daemon.grpc.CallStats;
import io.prometheus.metrics.model.snapshots.Labels;

/** Clients, calls and refusals of the gRPC server. */
public final class GrpcCollector implements Collector {

    private static final Family CALLS = Family.counter(
            "gpuwarden_grpc_calls", "Calls that ended, by status; methods without a service have the method unknown.");
    private static final Family OPEN = Family.gauge("gpuwarden_grpc_open_calls", "Calls under way, watches included.");
    private static final Family WATCHES = Family.gauge("gpuwarden_grpc_watches", "Clients that watch the node.");
    private static final Family CONNECTIONS = Family.gauge("gpuwarden_grpc_connections", "Connections of clients.");
    private static final Family HELD =
            Family.gauge("gpuwarden_grpc_held", "bytes", "Memory of calls that have not ended.");
    private static final Family REFUSED = Family.counter(
            "gpuwarden_grpc_refused",
            "Connections and calls that were refused because there were too many, or they held too much memory.");

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
                CALLS,
                Labels.of(
                        "code", ended.code().name(),
                        "method", ended.method(),
                        "service", ended.service()),
                count));
        out.add(OPEN, Labels.EMPTY, stats.calls());
        out.add(WATCHES, Labels.EMPTY, stats.watchers());
        out.add(CONNECTIONS, Labels.EMPTY, stats.connections());
        out.add(HELD, Labels.EMPTY, stats.heldBytes());
        for (CallStats.Refusal why : CallStats.Refusal.values()) {
            out.add(REFUSED, Labels.of("cause", why.label()), stats.refusals(why));
        }
    }
}
