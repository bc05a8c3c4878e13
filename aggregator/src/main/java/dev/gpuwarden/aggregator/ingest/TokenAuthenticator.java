package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ReviewCache;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/** Has the API server judge tokens, and remembers the answers for a short time. Thread-safe. */
final class TokenAuthenticator {

    private static final String PATH = "/apis/authentication.k8s.io/v1/tokenreviews";

    /** 10,000 nodes connect again and again, each with a right that hardly ever ends. */
    private static final Duration GOOD_FOR = Duration.ofMinutes(1);

    private final KubeClient api;
    private final String audience;
    private final String account;
    private final Set<String> monitors;
    private final ReviewCache<TokenVerdict> judgements;
    private final Strikes strikes;

    TokenAuthenticator(KubeClient api, String audience, String account, Set<String> monitors, LongSupplier nanoTime) {
        this.api = api;
        this.audience = audience;
        this.account = account;
        this.monitors = monitors;
        this.strikes = new Strikes(nanoTime);
        this.judgements = new ReviewCache<>(verdict -> verdict.caller().isPresent(), GOOD_FOR, nanoTime);
    }

    /**
     * Blocks while the API server is asked.
     *
     * @param address of the caller; after too many unknown tokens from there the API server is not asked for a while
     */
    TokenVerdict review(String token, Object address) throws ApiException, InterruptedException {
        return judgements.of(token, () -> {
            if (!strikes.mayAsk(address)) {
                return TokenVerdict.no("too many unknown tokens come from this address: wait a minute");
            }
            Map<String, Object> answer = api.create(
                    PATH,
                    Map.of(
                            "apiVersion", "authentication.k8s.io/v1",
                            "kind", "TokenReview",
                            "spec", Map.of("token", token, "audiences", List.of(audience))));
            TokenVerdict verdict = TokenVerdict.of(JsonTrees.object(answer, "status"), audience, account, monitors);
            if (verdict.caller().isEmpty()) {
                strikes.strike(address);
            }
            return verdict;
        });
    }
}
