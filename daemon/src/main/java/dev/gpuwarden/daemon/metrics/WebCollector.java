package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.cli.web.WebStats;
import io.prometheus.metrics.model.snapshots.Labels;

/** Connections and refusals of the HTTP server. */
public final class WebCollector implements Collector {

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
        out.add("gpuwarden_web_connections", Labels.EMPTY, stats.connections());
        out.add("gpuwarden_web_held_bytes", Labels.EMPTY, stats.bodyBytes());
        for (WebStats.Refusal why : WebStats.Refusal.values()) {
            out.add("gpuwarden_web_refused", Labels.of("cause", why.label()), stats.refusals(why));
        }
    }
}
