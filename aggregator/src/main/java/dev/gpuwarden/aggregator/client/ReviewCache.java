package dev.gpuwarden.aggregator.client;

import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.Sha256;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/** A cache of the API server's verdicts about callers, for a short time. Thread-safe. */
public final class ReviewCache<V> {

    /** Time for which a refusal holds, and so the longest wait after a missing right is granted. */
    private static final long BAD_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final int MOST = 16_384;

    private record Known<V>(V verdict, long untilNanos) {}

    /** A question to the API server, which blocks until the answer arrives. */
    public interface Question<V> {
        V ask() throws ApiException, InterruptedException;
    }

    private final Predicate<V> good;
    private final long goodNanos;
    private final LongSupplier nanoTime;

    /** The verdicts by hash. The oldest entry goes when there are too many. */
    private final Map<String, Known<V>> known = new BoundedMap<>(MOST, false);

    /**
     * @param good predicate for verdicts that admit the caller
     * @param goodFor time for which such a verdict holds, also after the token, pod or right of the caller is gone
     */
    public ReviewCache(Predicate<V> good, Duration goodFor, LongSupplier nanoTime) {
        this.good = good;
        this.goodNanos = goodFor.toNanos();
        this.nanoTime = nanoTime;
    }

    /** @param who identity of the caller, which may be a secret: the cache does not keep it */
    public V of(String who, Question<V> question) throws ApiException, InterruptedException {
        // A copy of this process's memory holds no tokens in this map.
        String hash = Sha256.hex(who);
        synchronized (known) {
            Known<V> before = known.get(hash);
            if (before != null && before.untilNanos() - nanoTime.getAsLong() > 0) {
                return before.verdict();
            }
        }
        V verdict = question.ask();
        long until = nanoTime.getAsLong() + (good.test(verdict) ? goodNanos : BAD_NANOS);
        synchronized (known) {
            known.remove(hash);
            known.put(hash, new Known<>(verdict, until));
        }
        return verdict;
    }
}
