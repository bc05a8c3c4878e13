package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ReviewCache;
import dev.gpuwarden.aggregator.ingest.AuthInterceptor.Caller;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** An authenticator of tokens by the API server, which caches the verdicts for a short time. Thread-safe. */
final class TokenAuthenticator {

    /** 10,000 nodes connect repeatedly, each with a right that hardly ever ends. */
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
     * Returns the verdict about a token. Blocks while it asks the API server.
     *
     * @param address address of the caller; after too many unknown tokens from there the API server is not asked for a while
     */
    TokenVerdict review(String token, Object address) throws ApiException, InterruptedException {
        return judgements.of(token, () -> {
            if (!strikes.mayAsk(address)) {
                return TokenVerdict.no("too many unknown tokens come from this address: wait a minute");
            }
            Map<String, Object> status = api.review(
                    "authentication.k8s.io", "TokenReview", Map.of("token", token, "audiences", List.of(audience)));
            TokenVerdict verdict = TokenVerdict.of(status, audience, account, monitors);
            if (verdict.caller().isEmpty()) {
                strikes.strike(address);
            }
            return verdict;
        });
    }

    /**
     * The verdict about a caller from a TokenReview's status. Pure.
     *
     * @param caller empty if the token is not valid here
     * @param why text for the caller; without the token
     */
    record TokenVerdict(Optional<Caller> caller, String why) {

        private static final String NODE = "authentication.kubernetes.io/node-name";
        private static final String POD = "authentication.kubernetes.io/pod-name";
        private static final String ACCOUNT = "system:serviceaccount:";

        /**
         * @param audience required audience of the token, so that one for the API server or another program opens nothing here
         * @param account `namespace:name` of the daemons' service account
         * @param monitors `namespace/name` of the service accounts that may report faults of any node
         */
        static TokenVerdict of(Map<?, ?> status, String audience, String account, Set<String> monitors) {
            if (!JsonTrees.isTrue(status, "authenticated")) {
                return no("the API server refuses the token, or it is of another audience than '" + audience + "'");
            }
            if (!JsonTrees.textList(status, "audiences").contains(audience)) {
                return no("the token is of another audience than '" + audience + "'");
            }
            Map<?, ?> user = JsonTrees.object(status, "user");
            String name = JsonTrees.text(user, "username");
            if (name.startsWith(ACCOUNT)) {
                String monitor = name.substring(ACCOUNT.length()).replace(':', '/');
                if (monitors.contains(monitor)) {
                    return new TokenVerdict(Optional.of(Caller.monitor(monitor)), "");
                }
            }
            if (!name.equals(ACCOUNT + account)) {
                return no("the token is of '" + name + "', neither of '" + ACCOUNT + account + "' nor of a monitor");
            }
            Map<?, ?> extra = JsonTrees.object(user, "extra");
            List<String> nodes = JsonTrees.textList(extra, NODE);
            List<String> pods = JsonTrees.textList(extra, POD);
            if (nodes.size() != 1 || pods.size() != 1) {
                return no("the token is not bound to one pod on one node, as projected tokens are");
            }
            return new TokenVerdict(Optional.of(Caller.node(Set.of(nodes.get(0)), "token of pod " + pods.get(0))), "");
        }

        static TokenVerdict no(String why) {
            return new TokenVerdict(Optional.empty(), why);
        }
    }

    /**
     * The addresses that have shown tokens which the API server does not accept. After a few of them, new tokens of such an
     * address are refused without a request for a while. An address without a recent strike never waits: after a restart
     * thousands of nodes come with tokens that are new here. Thread-safe.
     */
    static final class Strikes {

        /** Strikes of one address in a burst; a node has one token, and a new one each hour. */
        static final int MOST_OF_ONE = 10;

        /** Strikes of all addresses together. */
        static final int MOST_OF_ALL = 200;

        static final long FORGIVEN_NANOS = TimeUnit.SECONDS.toNanos(5);
        private static final long FORGIVEN_OF_ALL_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

        private static final int MOST_ADDRESSES = 4096;
        private static final Object ALL = new Object();

        private final RateLimit ofOne;
        private final RateLimit ofAll;

        Strikes(LongSupplier nanoTime) {
            ofOne = new RateLimit(MOST_OF_ONE, FORGIVEN_NANOS, MOST_ADDRESSES, nanoTime);
            ofAll = new RateLimit(MOST_OF_ALL, FORGIVEN_OF_ALL_NANOS, 1, nanoTime);
        }

        /** Returns true if the API server may be asked about a new token of this address. */
        boolean mayAsk(Object address) {
            return ofOne.isFull(address) || ofOne.has(address) && ofAll.has(ALL);
        }

        /** Counts a token of this address that the API server does not accept. */
        void strike(Object address) {
            boolean unused = ofOne.take(address) && ofAll.take(ALL);
        }
    }
}
