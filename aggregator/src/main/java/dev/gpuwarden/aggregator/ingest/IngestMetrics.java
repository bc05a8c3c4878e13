package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.ingest.UplinkStep.Reason;
import dev.gpuwarden.aggregator.part.Counts;
import dev.gpuwarden.aggregator.part.Timings;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/** Counts since the start, for metrics. Thread-safe. */
public final class IngestMetrics {

    public final LongAdder events = new LongAdder();
    public final LongAdder generations = new LongAdder();

    /** The refused messages, by reason. */
    public final Counts<String> refusals = new Counts<>();

    /** The streams that this side ended, by status. */
    public final Counts<String> endings = new Counts<>();

    /** The requests for the holders of a node's GPUs, by outcome. */
    public final Counts<String> lookups = new Counts<>();

    /** The tokens that users have shown to nodes, by the outcome of their review. */
    public final Counts<String> reviews = new Counts<>();

    /** The writes that the API server did not accept, by its answer. */
    public final Counts<String> failures = new Counts<>();

    /** The times from a write's first report until the API server has it. */
    final Timings written = new Timings(Duration.ofHours(1));

    void refused(Reason reason) {
        refusals.add(reason.name().toLowerCase(java.util.Locale.ROOT));
    }

    void ended(Status.Code code) {
        endings.add(code.name());
    }
}
