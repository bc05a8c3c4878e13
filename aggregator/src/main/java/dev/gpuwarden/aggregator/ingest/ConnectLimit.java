package dev.gpuwarden.aggregator.ingest;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** How often each node may connect: each time costs the API server a request. Thread-safe. */
final class ConnectLimit {

    /** As often in a row as a node connects while aggregators are replaced. */
    static final int BURST = 10;

    static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Nodes that are remembered: more than a cluster has. */
    private static final int MOST = 20_000;

    private final LongSupplier nanoTime;

    /** When each node will have all of its burst again; the one that has connected least lately goes first. */
    private final Map<String, Long> full = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MOST;
        }
    };

    ConnectLimit(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Whether this node may connect now, which counts then. */
    synchronized boolean take(String node) {
        long now = nanoTime.getAsLong();
        Long before = full.get(node);
        long missing = before == null ? 0 : Math.max(0, before - now);
        if (missing > (BURST - 1) * EACH_NANOS) {
            return false;
        }
        full.put(node, now + missing + EACH_NANOS);
        return true;
    }
}
