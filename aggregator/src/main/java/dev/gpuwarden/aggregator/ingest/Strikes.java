package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.core.limit.RateLimit;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Addresses that have shown tokens which the API server does not know. After a few of them the API server is asked about no new
 * token of such an address for a while. An address that has shown none lately never waits: after a restart thousands of nodes come
 * with tokens that are new here. Thread-safe.
 */
final class Strikes {

    /** Shown at once; a node has one token, and a new one each hour. */
    static final int MOST_OF_ONE = 10;

    /** Of all addresses together. */
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

    /** Whether the API server may be asked about a token that is new here. */
    boolean mayAsk(Object address) {
        return ofOne.isFull(address) || ofOne.has(address) && ofAll.has(ALL);
    }

    /** The API server does not know a token of this address. */
    void strike(Object address) {
        boolean unused = ofOne.take(address) && ofAll.take(ALL);
    }
}
