package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.ingest.IngestMetrics;
import dev.gpuwarden.aggregator.ingest.IngestServer;
import dev.gpuwarden.aggregator.objectmonitor.ObjectMonitor;
import dev.gpuwarden.cli.web.WebStats;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * The metrics of the aggregator, for Prometheus. No series is per node: there are thousands, and NodeHealth has the state of
 * each.
 */
final class AggregatorMetrics {

    private static final PrometheusTextFormatWriter WRITER = PrometheusTextFormatWriter.create();
    static final String TYPE = WRITER.getContentType();

    private static final double[] QUANTILES = {0.5, 0.9, 0.99, 1};

    private final IngestServer server;
    private final Optional<Controllers> steering;
    private final Optional<ObjectMonitor> monitor;
    private final WebStats web;

    AggregatorMetrics(
            IngestServer server, Optional<Controllers> steering, Optional<ObjectMonitor> monitor, WebStats web) {
        this.server = server;
        this.steering = steering;
        this.monitor = monitor;
        this.web = web;
    }

    byte[] text() {
        IngestMetrics tally = server.tally();
        List<MetricSnapshot> all = new ArrayList<>();
        all.add(gauge("gpuwarden_aggregator_nodes_connected", "Nodes that report now.", server.connected()));
        all.add(gauge(
                "gpuwarden_aggregator_nodes_behind",
                "Nodes whose NodeHealth could not be written; the write is retried.",
                server.behind()));
        all.add(counter("gpuwarden_aggregator_events", "Events of nodes that were accepted.", tally.events.sum()));
        all.add(counter(
                "gpuwarden_aggregator_fault_tellings",
                "Complete reports of all faults of a node.",
                tally.generations.sum()));
        all.add(counter(
                "gpuwarden_aggregator_refused",
                "Messages of nodes that were refused, by reason.",
                "reason",
                tally.refusals.sums()));
        all.add(counter(
                "gpuwarden_aggregator_streams_ended",
                "Streams and calls that the aggregator ended, by gRPC status.",
                "status",
                tally.endings.sums()));
        all.add(counter(
                "gpuwarden_aggregator_lookups",
                "Requests to nodes for the holders of their GPUs, and signals for their pods, by outcome.",
                "outcome",
                tally.lookups.sums()));
        all.add(counter(
                "gpuwarden_aggregator_access_reviews",
                "Tokens that users presented to nodes, by the outcome of the review.",
                "outcome",
                tally.reviews.sums()));
        all.add(counter(
                "gpuwarden_aggregator_write_failures",
                "Writes of a NodeHealth that failed, by the API server's answer.",
                "answer",
                tally.failures.sums()));
        all.add(seconds(
                "gpuwarden_aggregator_write_seconds",
                "Time from a node's report to its NodeHealth written.",
                tally.written()));
        all.add(gauge("gpuwarden_web_connections", "HTTP connections of clients.", web.connections()));
        all.add(gauge(
                "gpuwarden_web_held_bytes",
                "Memory of HTTP answers that clients have not taken yet.",
                web.bodyBytes()));
        all.add(counter(
                "gpuwarden_web_refused",
                "HTTP connections and requests that were turned away or cut off, by cause.",
                "cause",
                Stream.of(WebStats.Refusal.values())
                        .collect(Collectors.toMap(WebStats.Refusal::label, web::refusals, (a, b) -> a, TreeMap::new))));
        steering.ifPresent(steers -> all.addAll(ControllerCollector.of(steers)));
        monitor.ifPresent(monitors -> all.addAll(MonitorCollector.of(monitors)));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            WRITER.write(out, new MetricSnapshots(all));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    static MetricSnapshot gauge(String name, String help, double value) {
        return GaugeSnapshot.builder()
                .name(name)
                .help(help)
                .dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                        .value(value)
                        .build())
                .build();
    }

    /** Returns the builder of a gauge with labels. The caller adds its points. */
    static GaugeSnapshot.Builder gauge(String name, String help) {
        return GaugeSnapshot.builder().name(name).help(help);
    }

    static GaugeSnapshot.GaugeDataPointSnapshot point(Labels labels, double value) {
        return GaugeSnapshot.GaugeDataPointSnapshot.builder()
                .labels(labels)
                .value(value)
                .build();
    }

    static MetricSnapshot counter(String name, String help, double value) {
        return CounterSnapshot.builder()
                .name(name)
                .help(help)
                .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                        .value(value)
                        .build())
                .build();
    }

    static MetricSnapshot counter(String name, String help, String label, Map<String, Long> values) {
        CounterSnapshot.Builder counter = CounterSnapshot.builder().name(name).help(help);
        values.forEach((key, value) -> counter.dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                .labels(Labels.of(label, key))
                .value(value)
                .build()));
        return counter.build();
    }

    static MetricSnapshot seconds(String name, String help, Histogram micros) {
        long count = micros.getTotalCount();
        Quantile[] quantiles = new Quantile[count == 0 ? 0 : QUANTILES.length];
        for (int i = 0; i < quantiles.length; i++) {
            quantiles[i] = new Quantile(QUANTILES[i], micros.getValueAtPercentile(100 * QUANTILES[i]) / 1e6);
        }
        return SummarySnapshot.builder()
                .name(name)
                .help(help)
                .dataPoint(SummarySnapshot.SummaryDataPointSnapshot.builder()
                        .count(count)
                        .sum(count == 0 ? 0 : micros.getMean() * count / 1e6)
                        .quantiles(Quantiles.of(quantiles))
                        .build())
                .build();
    }
}
