package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.Site;
import java.util.List;
import java.util.Optional;

/** `/metrics`, `/healthz` and `/readyz`. */
final class AggregatorSite implements Site {

    /** What is still waited for. */
    interface Pending {
        List<String> now() throws InterruptedException;
    }

    private final Pending pending;
    private final AggregatorMetrics metrics;

    AggregatorSite(Pending pending, AggregatorMetrics metrics) {
        this.pending = pending;
        this.metrics = metrics;
    }

    @Override
    public Optional<Answer> answer(Request request) throws InterruptedException {
        return switch (request.path()) {
            case "/metrics" -> Optional.of(Answer.of(200, AggregatorMetrics.TYPE, metrics.text()));
            case "/healthz" -> Optional.of(Answer.text(200, "ok\n"));
            case "/readyz" -> Optional.of(ready());
            default -> Optional.empty();
        };
    }

    private Answer ready() throws InterruptedException {
        List<String> waiting = pending.now();
        return waiting.isEmpty() ? Answer.text(200, "ok\n") : Answer.text(503, String.join("\n", waiting) + "\n");
    }
}
