package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.Site;

/** `/metrics`. */
final class MetricsSite implements Site {

    private final AggregatorMetrics metrics;

    MetricsSite(AggregatorMetrics metrics) {
        this.metrics = metrics;
    }

    @Override
    public boolean has(String path) {
        return path.equals("/metrics");
    }

    @Override
    public Answer answer(Request request) {
        return Answer.of(200, AggregatorMetrics.TYPE, metrics.text());
    }
}
