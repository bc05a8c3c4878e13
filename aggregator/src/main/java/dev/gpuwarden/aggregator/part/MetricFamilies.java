package dev.gpuwarden.aggregator.part;

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
import java.util.Locale;
import java.util.Map;
import java.util.ResourceBundle;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/** The metrics of one scrape. Their help texts are in `metrics.properties`; a name without one is an error of the program. */
public final class MetricFamilies {

    private static final PrometheusTextFormatWriter WRITER = PrometheusTextFormatWriter.create();
    public static final String TYPE = WRITER.getContentType();

    private static final ResourceBundle HELP =
            ResourceBundle.getBundle(MetricFamilies.class.getPackageName() + ".metrics", Locale.ROOT);
    private static final double[] QUANTILES = {0.5, 0.9, 0.99, 1};

    private final List<MetricSnapshot> all = new ArrayList<>();

    public void gauge(String name, double value) {
        gauge(name, List.of(value), any -> Labels.EMPTY, Double::doubleValue);
    }

    /** Adds a gauge with a value for each entry, whose key is the value of the label. */
    public <T> void gauge(String name, String label, Map<String, T> entries, ToDoubleFunction<T> value) {
        gauge(
                name,
                entries.entrySet(),
                entry -> Labels.of(label, entry.getKey()),
                entry -> value.applyAsDouble(entry.getValue()));
    }

    /** Adds a gauge with a value for each item. */
    public <T> void gauge(String name, Iterable<T> items, Function<T, Labels> labels, ToDoubleFunction<T> value) {
        GaugeSnapshot.Builder gauge = GaugeSnapshot.builder().name(name).help(HELP.getString(name));
        items.forEach(item -> gauge.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                .labels(labels.apply(item))
                .value(value.applyAsDouble(item))
                .build()));
        all.add(gauge.build());
    }

    public void counter(String name, double value) {
        counter(name, List.of(value), any -> Labels.EMPTY, Double::doubleValue);
    }

    /** Adds a counter with a value for each entry, whose key is the value of the label. */
    public <T> void counter(String name, String label, Map<String, T> entries, ToDoubleFunction<T> value) {
        counter(
                name,
                entries.entrySet(),
                entry -> Labels.of(label, entry.getKey()),
                entry -> value.applyAsDouble(entry.getValue()));
    }

    /** Adds a counter with a value for each entry, whose key is the value of the label. */
    public void counter(String name, String label, Map<String, Long> entries) {
        counter(name, label, entries, Long::doubleValue);
    }

    public <T> void counter(String name, Iterable<T> items, Function<T, Labels> labels, ToDoubleFunction<T> value) {
        CounterSnapshot.Builder counter = CounterSnapshot.builder().name(name).help(HELP.getString(name));
        items.forEach(item -> counter.dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                .labels(labels.apply(item))
                .value(value.applyAsDouble(item))
                .build()));
        all.add(counter.build());
    }

    /** Adds a summary. @param micros microseconds, which are written as seconds */
    public void seconds(String name, Histogram micros) {
        long count = micros.getTotalCount();
        Quantile[] quantiles = new Quantile[count == 0 ? 0 : QUANTILES.length];
        for (int i = 0; i < quantiles.length; i++) {
            quantiles[i] = new Quantile(QUANTILES[i], micros.getValueAtPercentile(100 * QUANTILES[i]) / 1e6);
        }
        all.add(SummarySnapshot.builder()
                .name(name)
                .help(HELP.getString(name))
                .dataPoint(SummarySnapshot.SummaryDataPointSnapshot.builder()
                        .count(count)
                        .sum(count == 0 ? 0 : micros.getMean() * count / 1e6)
                        .quantiles(Quantiles.of(quantiles))
                        .build())
                .build());
    }

    /** Returns the metrics in the text format of Prometheus. */
    public byte[] text() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            WRITER.write(out, new MetricSnapshots(all));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }
}
