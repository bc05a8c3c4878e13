package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.daemon.sink.SinkStats;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.function.Supplier;

/** Delivery of events to other systems. */
public final class SinkCollector implements Collector {

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
            out.add("gpuwarden_sink_events_sent", labels, sink.sent());
            out.add("gpuwarden_sink_events_refused", labels, sink.refused());
            out.add("gpuwarden_sink_failures", labels, sink.failures());
            out.add("gpuwarden_sink_up", labels, sink.lastError().isEmpty() ? 1 : 0);
        }
    }
}
