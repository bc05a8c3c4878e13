package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.cli.web.HeaderPreference;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;

/** The formats that scrapers can request. */
enum TextFormat {
    PROMETHEUS("text/plain", new BareCounters()),
    OPEN_METRICS("application/openmetrics-text", OpenMetricsTextFormatWriter.create());

    private final String mediaType;
    private final ExpositionFormatWriter writer;

    TextFormat(String mediaType, ExpositionFormatWriter writer) {
        this.mediaType = mediaType;
        this.writer = writer;
    }

    ExpositionFormatWriter writer() {
        return writer;
    }

    String contentType() {
        return writer.getContentType();
    }

    /** Returns the format that an Accept header prefers; the older format if it names neither. */
    static TextFormat negotiate(String accept) {
        double open = HeaderPreference.of(accept, OPEN_METRICS.mediaType);
        return open > 0 && open >= HeaderPreference.of(accept, PROMETHEUS.mediaType) ? OPEN_METRICS : PROMETHEUS;
    }
}
