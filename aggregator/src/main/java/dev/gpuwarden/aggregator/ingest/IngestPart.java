package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.part.MetricFamilies;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/** Takes the reports of nodes. */
public final class IngestPart implements Part {

    @Mixin
    IngestOptions options = new IngestOptions();

    private final BooleanSupplier cached;
    private final Supplier<List<NodeMessageKind>> further;
    private @Nullable IngestServer server;

    /**
     * @param cached true if another part keeps the cache of NodeHealths up to date, which saves requests
     * @param further kinds of messages that other parts receive
     */
    public IngestPart(BooleanSupplier cached, Supplier<List<NodeMessageKind>> further) {
        this.cached = cached;
        this.further = further;
    }

    @Override
    public void configure() {
        options.validate();
    }

    @Override
    public void start(Replica replica) {
        NodeHealthCache memory = cached.getAsBoolean() ? replica.cache() : NodeHealthCache.NONE;
        server = replica.closer().add(IngestServer.of(options, replica.api(), memory, further.get()));
    }

    /** Returns the server, which the program lets accept nodes once the first lists have arrived. */
    public IngestServer server() {
        return Objects.requireNonNull(server, "not started");
    }

    @Override
    public void addMetrics(MetricFamilies all) {
        IngestMetrics metrics = server().metrics();
        all.gauge("gpuwarden_aggregator_nodes_connected", server().connected());
        all.gauge("gpuwarden_aggregator_nodes_behind", server().behind());
        all.counter("gpuwarden_aggregator_events", metrics.events.sum());
        all.counter("gpuwarden_aggregator_fault_tellings", metrics.generations.sum());
        all.counter("gpuwarden_aggregator_refused", "reason", metrics.refusals.sums());
        all.counter("gpuwarden_aggregator_streams_ended", "status", metrics.endings.sums());
        all.counter("gpuwarden_aggregator_lookups", "outcome", metrics.lookups.sums());
        all.counter("gpuwarden_aggregator_access_reviews", "outcome", metrics.reviews.sums());
        all.counter("gpuwarden_aggregator_write_failures", "answer", metrics.failures.sums());
        all.seconds("gpuwarden_aggregator_write_seconds", metrics.written.micros());
    }
}
