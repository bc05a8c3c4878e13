package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.daemon.sink.SinkStats;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.function.Supplier;

/** Delivery of events to other systems. */
public final class SinkCollector implements Collector {

    private static final Family SENT =
            Family.counter("gpuwarden_sink_events_sent", "Events that the sink has accepted since the daemon started.");
    private static final Family REFUSED = Family.counter(
            "gpuwarden_sink_events_refused", "Events that the sink refused for good, and that were skipped.");
    private static final Family FAILURES =
            Family.counter("gpuwarden_sink_failures", "Attempts to deliver events that failed.");
    private static final Family UP =
            Family.gauge("gpuwarden_sink_up", "1 if the last attempt succeeded, or none was needed yet.");

    private final Supplier<List<SinkStats>> sinks;

    public SinkCollector(Supplier<List<SinkStats>> sinks) {
        this.sinks = sinks;
    }

    @Override
    public String name() {
        return "sinks";
    }

    @Override
    public void collect(Scrape scrape, Family.Series out) {
        for (SinkStats sink : sinks.get()) {
            Labels labels = Labels.of("sink", sink.sink());
            out.add(SENT, labels, sink.sent());
            out.add(REFUSED, labels, sink.refused());
            out.add(FAILURES, labels, sink.failures());
            out.add(UP, labels, sink.lastError().isEmpty() ? 1 : 0);
        }
    }
}
