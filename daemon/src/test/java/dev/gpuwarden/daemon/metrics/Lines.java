package dev.gpuwarden.daemon.metrics;

import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** An exposition as text. */
final class Lines {

    private Lines() {}

    static String text(TextFormat format, MetricSnapshots snapshots) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            format.writer().write(out, snapshots);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    /** Returns the series in the older text format, without comments. */
    static List<String> of(Collector.Scrape scrape, Collector part) {
        Exposition exposition = new Exposition(MetricsOptions.of(false, false, false), () -> List.of(part));
        return series(text(TextFormat.PROMETHEUS, exposition.snapshots(scrape)));
    }

    static List<String> of(Collector.Scrape scrape, MetricsOptions options) {
        Exposition exposition = new Exposition(options);
        return series(text(TextFormat.PROMETHEUS, exposition.snapshots(scrape)));
    }

    static List<String> of(Collector.Scrape scrape) {
        return of(scrape, MetricsOptions.of(false, false, false));
    }

    static List<String> series(String text) {
        return text.lines().filter(line -> !line.startsWith("#")).toList();
    }
}
