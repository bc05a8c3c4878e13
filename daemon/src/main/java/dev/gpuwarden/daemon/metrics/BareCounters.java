package dev.gpuwarden.daemon.metrics;

import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The older text format, which allows any name for a counter. The library adds `_total` to every counter's name. So
 * counters with names of other exporters are unknown to the library, and become counters here, after all other metrics.
 * OpenMetrics has no such counters: there they stay unknown.
 */
final class BareCounters implements ExpositionFormatWriter {

    /** Matches at the beginning of a line, where only the library writes: other texts have their newlines escaped. */
    private static final Pattern TYPE = Pattern.compile("(?m)^(# TYPE \\S+) untyped$");

    private final ExpositionFormatWriter writer = PrometheusTextFormatWriter.create();

    @Override
    public boolean accepts(String acceptHeader) {
        return writer.accepts(acceptHeader);
    }

    @Override
    public String getContentType() {
        return writer.getContentType();
    }

    @Override
    public void write(OutputStream out, MetricSnapshots metrics, EscapingScheme escaping) throws IOException {
        List<MetricSnapshot> others = new ArrayList<>();
        List<MetricSnapshot> bare = new ArrayList<>();
        for (MetricSnapshot metric : metrics) {
            (metric instanceof UnknownSnapshot ? bare : others).add(metric);
        }
        writer.write(out, new MetricSnapshots(others), escaping);
        if (!bare.isEmpty()) {
            ByteArrayOutputStream counters = new ByteArrayOutputStream();
            writer.write(counters, new MetricSnapshots(bare), escaping);
            String text = counters.toString(StandardCharsets.UTF_8);
            out.write(TYPE.matcher(text).replaceAll("$1 counter").getBytes(StandardCharsets.UTF_8));
        }
    }
}
