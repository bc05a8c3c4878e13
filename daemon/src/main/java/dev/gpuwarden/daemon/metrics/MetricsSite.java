package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.HeaderPreference;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.Site;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** `/metrics`, `/healthz` and `/readyz`. Never waits for the driver. */
public final class MetricsSite implements Site {

    private final Scraper scraper;
    private final Supplier<List<String>> pending;

    /** @param pending what is still waited for before this node counts as ready, see {@link Readiness} */
    public MetricsSite(Scraper scraper, Supplier<List<String>> pending) {
        this.scraper = scraper;
        this.pending = pending;
    }

    @Override
    public Optional<Answer> answer(Request request) {
        return switch (request.path()) {
            case "/metrics" -> Optional.of(metrics(request));
            case "/healthz" -> Optional.of(Answer.text(200, "ok\n"));
            case "/readyz" -> Optional.of(ready());
            default -> Optional.empty();
        };
    }

    private Answer ready() {
        List<String> waiting = pending.get();
        return waiting.isEmpty() ? Answer.text(200, "ok\n") : Answer.text(503, String.join("\n", waiting) + "\n");
    }

    private Answer metrics(Request request) {
        TextFormat format = TextFormat.negotiate(request.header().apply("Accept"));
        boolean gzip = HeaderPreference.of(request.header().apply("Accept-Encoding"), "gzip") > 0;
        Answer answer = Answer.of(200, format.contentType(), scraper.text(format, gzip))
                .with("Vary", "Accept, Accept-Encoding");
        return gzip ? answer.with("Content-Encoding", "gzip") : answer;
    }
}
