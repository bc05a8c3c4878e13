package dev.gpuwarden.aggregator.ingest;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Who has shown tokens that the API server does not know. After a few of them an address waits before one of its tokens is asked
 * about again, so that made-up tokens do not become requests to the API server. An address that has shown none never waits: after a
 * restart thousands of nodes come with tokens that are new here. Thread-safe.
 */
final class Strikes {

    /** Shown at once; a node has one token, and a new one each hour. */
    static final int MOST_OF_ONE = 10;

    /** Of all addresses that have shown one. */
    static final int MOST_OF_ALL = 200;

    /** One is forgiven after so long, of all addresses twenty times as fast. */
    static final long FORGIVEN_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final int MOST_ADDRESSES = 4096;
    private static final int FORGIVEN_OF_ALL = 20;

    private static final class Count {
        private double strikes;
        private long atNanos;

        double now(long nanos, int pace) {
            strikes = Math.max(0, strikes - pace * (double) (nanos - atNanos) / FORGIVEN_NANOS);
            atNanos = nanos;
            return strikes;
        }
    }

    private final LongSupplier nanoTime;
    private final Count all = new Count();

    private final Map<Object, Count> byAddress = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Object, Count> eldest) {
            return size() > MOST_ADDRESSES;
        }
    };

    Strikes(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Whether a token that is new here may be asked about. */
    synchronized boolean mayAsk(Object address) {
        Count count = byAddress.get(address);
        if (count == null) {
            return true;
        }
        long now = nanoTime.getAsLong();
        return count.now(now, 1) < MOST_OF_ONE && all.now(now, FORGIVEN_OF_ALL) < MOST_OF_ALL;
    }

    /** The API server does not know a token of this address. */
    synchronized void strike(Object address) {
        long now = nanoTime.getAsLong();
        Count count = byAddress.computeIfAbsent(address, any -> new Count());
        count.strikes = count.now(now, 1) + 1;
        all.strikes = all.now(now, FORGIVEN_OF_ALL) + 1;
    }
}
