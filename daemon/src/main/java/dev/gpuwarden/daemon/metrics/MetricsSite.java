package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.HeaderPreference;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.Site;

/** `/metrics`. Never waits for the driver. */
public final class MetricsSite implements Site {

    private final Scraper scraper;

    public MetricsSite(Scraper scraper) {
        this.scraper = scraper;
    }

    @Override
    public boolean has(String path) {
        return path.equals("/metrics");
    }

    @Override
    public Answer answer(Request request) {
        TextFormat format = TextFormat.negotiate(request.header().apply("Accept"));
        boolean gzip = HeaderPreference.of(request.header().apply("Accept-Encoding"), "gzip") > 0;
        Answer answer = Answer.of(200, format.contentType(), scraper.text(format, gzip))
                .with("Vary", "Accept, Accept-Encoding");
        return gzip ? answer.with("Content-Encoding", "gzip") : answer;
    }
}
