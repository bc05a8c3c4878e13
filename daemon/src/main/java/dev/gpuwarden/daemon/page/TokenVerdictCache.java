package dev.gpuwarden.daemon.page;

import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.Sha256;
import dev.gpuwarden.daemon.page.TokenReviewer.Outcome;
import dev.gpuwarden.daemon.page.TokenReviewer.Verdict;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A short-lived cache of token reviews by the tokens' hashes, and a limit on the reviews that strangers can cause. A
 * token in use is reviewed again before its entry expires, so that its client never waits. Thread-safe.
 */
final class TokenVerdictCache {

    /**
     * The lifetime of a positive review, in addition to the aggregator's own cache: a client without its token or
     * right reads that long.
     */
    static final long GOOD_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final long AGAIN_NANOS = GOOD_NANOS / 2;
    private static final long AGAIN_EACH_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** The lifetime of a negative review: a client with a new right waits that long. */
    static final long BAD_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * New tokens of one address at one time, then one in five seconds. A token that was valid before is not new,
     * since a proxy has one address.
     */
    static final int BURST = 5;

    private static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** New tokens of all addresses, below the aggregator's limit for one node. */
    static final int BURST_OF_ALL = 8;

    private static final long EACH_OF_ALL_NANOS = TimeUnit.MILLISECONDS.toNanos(1500);
    private static final int MOST_ADDRESSES = 1024;
    private static final int MOST_TOKENS = 256;
    private static final Object ALL = new Object();

    /** Requests that wait for a review; each holds a thread. */
    static final int MOST_WAITING = 4;

    /** Longer than a review takes. */
    private static final long LONGEST_WAIT_SECONDS = 5;

    private record Known(Verdict verdict, long sinceNanos) {}

    private final TokenReviewer review;
    private final LongSupplier nanoTime;
    private final RateLimit ofOne;
    private final RateLimit ofAll;
    private final RateLimit again;
    private final Semaphore waiting = new Semaphore(MOST_WAITING);
    private final Map<String, CompletableFuture<Verdict>> asked = new HashMap<>();

    /** The oldest entry is removed if there are too many. */
    private final Map<String, Known> known = new BoundedMap<>(MOST_TOKENS, false);

    TokenVerdictCache(TokenReviewer review, LongSupplier nanoTime) {
        this.review = review;
        this.nanoTime = nanoTime;
        this.ofOne = new RateLimit(BURST, EACH_NANOS, MOST_ADDRESSES, nanoTime);
        this.ofAll = new RateLimit(BURST_OF_ALL, EACH_OF_ALL_NANOS, 1, nanoTime);
        this.again = new RateLimit(1, AGAIN_EACH_NANOS, MOST_TOKENS, nanoTime);
    }

    /** Returns the review of a token. Blocks for some seconds at most if the token is new. */
    Verdict of(String token, InetAddress from) throws InterruptedException {
        String hash = Sha256.hex(token);
        CompletableFuture<Verdict> answer;
        synchronized (this) {
            Known before = known.get(hash);
            if (before != null && age(before) < lifeNanos(before)) {
                if (before.verdict().outcome() == Outcome.ALLOWED && age(before) >= AGAIN_NANOS && again.take(hash)) {
                    var unused = answer(hash, token);
                }
                return before.verdict();
            }
            boolean wasGood = before != null && before.verdict().outcome() == Outcome.ALLOWED;
            if (!asked.containsKey(hash) && !((wasGood || ofOne.take(from)) && ofAll.take(ALL))) {
                return Verdict.unknown("too many tokens were shown: try again in some seconds");
            }
            answer = answer(hash, token);
        }
        return await(answer);
    }

    private Verdict await(CompletableFuture<Verdict> answer) throws InterruptedException {
        if (!waiting.tryAcquire()) {
            return Verdict.unknown("too many tokens are being checked: try again soon");
        }
        try {
            return answer.get(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return Verdict.unknown("no answer came");
        } finally {
            waiting.release();
        }
    }

    /** Starts a review, or joins the one of the same token. */
    private CompletableFuture<Verdict> answer(String hash, String token) {
        CompletableFuture<Verdict> before = asked.get(hash);
        if (before != null) {
            return before;
        }
        CompletableFuture<Verdict> answer = review.ask(token);
        asked.put(hash, answer);
        var unused = answer.whenComplete((verdict, failure) -> answered(hash, verdict));
        return answer;
    }

    private synchronized void answered(String hash, @Nullable Verdict verdict) {
        asked.remove(hash);
        // A failed review does not replace an earlier verdict, which holds until it expires.
        if (verdict != null && verdict.outcome() != Outcome.UNKNOWN) {
            known.remove(hash);
            known.put(hash, new Known(verdict, nanoTime.getAsLong()));
        }
    }

    private long age(Known before) {
        return nanoTime.getAsLong() - before.sinceNanos();
    }

    private static long lifeNanos(Known before) {
        return before.verdict().outcome() == Outcome.ALLOWED ? GOOD_NANOS : BAD_NANOS;
    }
}
