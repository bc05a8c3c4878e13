package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.cli.web.WebStats;
import io.prometheus.metrics.model.snapshots.Labels;

/** Connections and refusals of the HTTP server. */
public final class WebCollector implements Collector {

    private static final Family CONNECTIONS = Family.gauge("gpuwarden_web_connections", "HTTP connections of clients.");
    private static final Family HELD =
            Family.gauge("gpuwarden_web_held", "bytes", "Memory of HTTP answers that clients have not received yet.");
    private static final Family REFUSED = Family.counter(
            "gpuwarden_web_refused", "HTTP connections and requests that were refused or cut off, by cause.");

    private final WebStats stats;

    public WebCollector(WebStats stats) {
        this.stats = stats;
    }

    @Override
    public String name() {
        return "web";
    }

    @Override
    public void collect(Scrape scrape, Family.Series out) {
        out.add(CONNECTIONS, Labels.EMPTY, stats.connections());
        out.add(HELD, Labels.EMPTY, stats.bodyBytes());
        for (WebStats.Refusal why : WebStats.Refusal.values()) {
            out.add(REFUSED, Labels.of("cause", why.label()), stats.refusals(why));
        }
    }
}
