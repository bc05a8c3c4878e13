package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.cli.web.HeaderPreference;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;

/** The handler of `/metrics`. Never waits for the driver. */
public record MetricsHandler(Scraper scraper) implements HttpHandler {

    @Override
    public boolean has(String path) {
        return path.equals("/metrics");
    }

    @Override
    public HttpAnswer answer(Request request) {
        TextFormat format = TextFormat.negotiate(request.header().apply("Accept"));
        boolean gzip = HeaderPreference.of(request.header().apply("Accept-Encoding"), "gzip") > 0;
        HttpAnswer answer = HttpAnswer.of(200, format.contentType(), scraper.text(format, gzip))
                .with("Vary", "Accept, Accept-Encoding");
        return gzip ? answer.with("Content-Encoding", "gzip") : answer;
    }
}
