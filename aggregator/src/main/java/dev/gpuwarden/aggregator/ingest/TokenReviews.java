package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.json.Trees;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Has the API server judge tokens, and remembers the answers for a short time. Thread-safe. */
final class TokenReviews {

    private static final String PATH = "/apis/authentication.k8s.io/v1/tokenreviews";

    /** So long a token works after its pod is gone. */
    private static final long GOOD_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final long BAD_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int MOST = 16_384;

    private record Known(TokenVerdict verdict, long untilNanos) {}

    private final ClusterApi api;
    private final String audience;
    private final String account;
    private final Set<String> monitors;
    private final LongSupplier nanoTime;

    /** By the token's hash; the one that was put in first goes when there are too many. */
    private final Map<String, Known> known = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
            return size() > MOST;
        }
    };

    TokenReviews(ClusterApi api, String audience, String account, Set<String> monitors, LongSupplier nanoTime) {
        this.api = api;
        this.audience = audience;
        this.account = account;
        this.monitors = monitors;
        this.nanoTime = nanoTime;
    }

    /** Blocks while the API server is asked. */
    TokenVerdict review(String token) throws ClusterException, InterruptedException {
        String hash = hash(token);
        Optional<TokenVerdict> before = before(hash);
        if (before.isPresent()) {
            return before.get();
        }
        Map<String, Object> answer = api.create(
                PATH,
                Map.of(
                        "apiVersion", "authentication.k8s.io/v1",
                        "kind", "TokenReview",
                        "spec", Map.of("token", token, "audiences", List.of(audience))));
        TokenVerdict verdict = TokenVerdict.of(Trees.object(answer, "status"), audience, account, monitors);
        long until = nanoTime.getAsLong() + (verdict.caller().isPresent() ? GOOD_NANOS : BAD_NANOS);
        synchronized (known) {
            known.remove(hash);
            known.put(hash, new Known(verdict, until));
        }
        return verdict;
    }

    private Optional<TokenVerdict> before(String hash) {
        synchronized (known) {
            Known one = known.get(hash);
            return one == null || one.untilNanos() - nanoTime.getAsLong() <= 0
                    ? Optional.empty()
                    : Optional.of(one.verdict());
        }
    }

    /** Whoever reads this process's memory finds no tokens in this map. */
    private static String hash(String token) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
