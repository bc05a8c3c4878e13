package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.part.MetricFamilies;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.WebStats;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The metrics of the aggregator, for Prometheus, at `/metrics`: those of its parts and of its HTTP server. No series is per node:
 * there are thousands, and NodeHealth has the state of each.
 */
record AggregatorMetrics(List<Part> parts, WebStats web) implements HttpHandler {

    @Override
    public boolean has(String path) {
        return path.equals("/metrics");
    }

    @Override
    public HttpAnswer answer(Request request) {
        MetricFamilies all = new MetricFamilies();
        parts.forEach(part -> part.addMetrics(all));
        all.gauge("gpuwarden_web_connections", web.connections());
        all.gauge("gpuwarden_web_held_bytes", web.bodyBytes());
        all.counter(
                "gpuwarden_web_refused",
                "cause",
                Stream.of(WebStats.Refusal.values()).collect(Collectors.toMap(WebStats.Refusal::label, web::refusals)));
        return HttpAnswer.of(200, MetricFamilies.TYPE, all.text());
    }
}
