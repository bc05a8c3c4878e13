package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.core.limit.RateLimit;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The bounds on the ends of pods at the request of nodes: of the requests of each node, and of the pods of all nodes. A node
 * that requests again and again, with any number of stolen tokens, leaves room for the first request of the others. Thread-safe.
 */
final class RemovalLimits {

    /** The burst of one node. Then it may request one removal in ten seconds; the watchdog requests six in an hour. */
    static final int BURST = 6;

    private static final Duration EACH = Duration.ofSeconds(10);

    /** The burst of all nodes together. Then they may end one pod in two seconds. First requests have as much again. */
    static final int BURST_OF_ALL = 30;

    private static final Duration EACH_OF_ALL = Duration.ofSeconds(2);

    /** A node's request is a first one if it has ended no pod for this time: the watchdog's cap permits one in it. */
    private static final Duration QUIET = Duration.ofMinutes(10);

    private static final int MOST_NODES = 20_000;
    private static final Object ALL = new Object();

    private final RateLimit requests;
    private final RateLimit quiet;
    private final RateLimit ofQuiet;
    private final RateLimit ofAll;

    RemovalLimits(LongSupplier nanoTime) {
        requests = new RateLimit(BURST, EACH.toNanos(), MOST_NODES, nanoTime);
        quiet = new RateLimit(1, QUIET.toNanos(), MOST_NODES, nanoTime);
        ofQuiet = new RateLimit(BURST_OF_ALL, EACH_OF_ALL.toNanos(), 1, nanoTime);
        ofAll = new RateLimit(BURST_OF_ALL, EACH_OF_ALL.toNanos(), 1, nanoTime);
    }

    /** Counts a request of the node. Returns whether it may be read. */
    boolean asks(String node) {
        return requests.take(node);
    }

    /** Counts the end of a pod that is the node's own. Returns whether it may be. Refused requests must not come here. */
    boolean ends(String node) {
        return quiet.take(node) && ofQuiet.take(ALL) || ofAll.take(ALL);
    }
}
