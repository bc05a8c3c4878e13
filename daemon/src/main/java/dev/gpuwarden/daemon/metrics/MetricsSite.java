package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.HeaderPreference;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.Site;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** `/metrics`, `/healthz` and `/readyz`. Never waits for the driver. */
public final class MetricsSite implements Site {

    private final Scraper scraper;
    private final Supplier<List<String>> pending;
    private final BooleanSupplier storing;

    /**
     * @param pending what is still waited for before this node counts as ready, see {@link Readiness}
     * @param storing whether events are stored: who reads that the node is ready reads what it lacks
     */
    public MetricsSite(Scraper scraper, Supplier<List<String>> pending, BooleanSupplier storing) {
        this.scraper = scraper;
        this.pending = pending;
        this.storing = storing;
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
        if (!waiting.isEmpty()) {
            return Answer.text(503, String.join("\n", waiting) + "\n");
        }
        return Answer.text(200, storing.getAsBoolean() ? "ok\n" : "ok, but events are not stored now\n");
    }

    private Answer metrics(Request request) {
        TextFormat format = TextFormat.negotiate(request.header().apply("Accept"));
        boolean gzip = HeaderPreference.of(request.header().apply("Accept-Encoding"), "gzip") > 0;
        Answer answer = Answer.of(200, format.contentType(), scraper.text(format, gzip))
                .with("Vary", "Accept, Accept-Encoding");
        return gzip ? answer.with("Content-Encoding", "gzip") : answer;
    }
}
