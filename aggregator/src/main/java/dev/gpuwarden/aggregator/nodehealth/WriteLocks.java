package dev.gpuwarden.aggregator.nodehealth;

import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * A lock for each node, which writers of different parts of one NodeHealth hold in turn: the API server would refuse all but one of
 * them, for the version. For this process alone; the version protects against others. Thread-safe.
 */
final class WriteLocks {

    /** Nodes share locks. More than threads that write. */
    private static final int LOCKS = 1024;

    private static final List<ReentrantLock> ALL =
            Stream.generate(() -> new ReentrantLock(true)).limit(LOCKS).toList();

    private WriteLocks() {}

    static Lock of(String node) {
        return ALL.get(Math.floorMod(node.hashCode(), LOCKS));
    }
}
