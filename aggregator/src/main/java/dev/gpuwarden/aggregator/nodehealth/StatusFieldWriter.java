package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A writer of one part of `NodeHealth`s' status, with its own field manager, so that all other parts stay. Each write names the
 * version that it read. A delayed write therefore replaces nothing newer. Thread-safe.
 */
// A held lock is only closed.
@SuppressWarnings("try")
public record StatusFieldWriter(KubeClient api, NodeHealthCache memory, String manager) {

    private static final int MOST_TRIES = 3;

    /**
     * Writes the whole part. One request, unless another writer has changed the resource. Blocks.
     *
     * @param status function from the present resource to the part; empty if there is nothing to write
     * @return true if it was written; false also if the resource is deleted
     */
    public boolean write(String node, Function<Map<String, Object>, Optional<Map<String, Object>>> status)
            throws ApiException, InterruptedException {
        try (WriteLocks.Turn turn = WriteLocks.take(node)) {
            Optional<Map<String, Object>> known = memory.health(node);
            for (int tries = 1; ; tries++) {
                try {
                    Map<String, Object> there =
                            known.isPresent() ? known.get() : api.get(NodeHealthClient.ALL.path(node));
                    Optional<Map<String, Object>> wanted = status.apply(there);
                    if (wanted.isEmpty()) {
                        return false;
                    }
                    String version = JsonTrees.text(JsonTrees.object(there, "metadata"), "resourceVersion");
                    memory.answered(NodeHealthClient.applyStatus(api, node, version, manager, wanted.get()));
                    return true;
                } catch (ApiException e) {
                    if (e.notFound()) {
                        return false;
                    }
                    if (tries == MOST_TRIES || !e.conflict()) {
                        throw e;
                    }
                }
                known = Optional.empty();
            }
        }
    }

    /**
     * A lock for each node, which writers of different parts of one NodeHealth hold in turn. Otherwise the API server would
     * refuse all but one of them, for the version. It holds in this process alone; the version protects against others.
     * Thread-safe.
     */
    static final class WriteLocks {

        /** Nodes share locks. The number exceeds the number of writing threads. */
        private static final int LOCKS = 1024;

        private static final List<ReentrantLock> ALL =
                Stream.generate(() -> new ReentrantLock(true)).limit(LOCKS).toList();

        private WriteLocks() {}

        /** Waits for the lock of a node and holds it until the result is closed. */
        static Turn take(String node) throws InterruptedException {
            Lock lock = ALL.get(Math.floorMod(node.hashCode(), LOCKS));
            lock.lockInterruptibly();
            return lock::unlock;
        }

        /** A held lock. */
        interface Turn extends AutoCloseable {
            @Override
            void close();
        }
    }
}
