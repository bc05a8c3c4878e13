package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A part of `NodeHealth`s' status with a field manager of its own, so that nobody else's part is touched. Written for the version that
 * was read: what was stuck on its way does not replace what is newer. Thread-safe.
 */
public final class StatusFieldWriter {

    private static final int MOST_TRIES = 3;

    private final KubeClient api;
    private final NodeHealthCache memory;
    private final String manager;

    public StatusFieldWriter(KubeClient api, NodeHealthCache memory, String manager) {
        this.api = api;
        this.memory = memory;
        this.manager = manager;
    }

    /**
     * Writes all of the part. One request, unless somebody else has changed the resource. Blocks.
     *
     * @param status from the resource as it is; empty where nothing is to be written
     * @return whether it was written; not where the resource is gone either
     */
    public boolean write(String node, Function<Map<String, Object>, Optional<Map<String, Object>>> status)
            throws ApiException, InterruptedException {
        Lock turn = WriteLocks.of(node);
        turn.lockInterruptibly();
        try {
            return writeAlone(node, status);
        } finally {
            turn.unlock();
        }
    }

    private boolean writeAlone(String node, Function<Map<String, Object>, Optional<Map<String, Object>>> status)
            throws ApiException, InterruptedException {
        Optional<Map<String, Object>> known = memory.health(node);
        for (int tries = 1; ; tries++) {
            try {
                Map<String, Object> there = known.isPresent() ? known.get() : api.get(NodeHealthClient.ALL.path(node));
                Optional<Map<String, Object>> wanted = status.apply(there);
                if (wanted.isEmpty()) {
                    return false;
                }
                memory.answered(api.apply(
                        NodeHealthClient.ALL.path(node) + "/status", manager, body(node, there, wanted.get())));
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

    private static Map<String, Object> body(String node, Map<String, Object> there, Map<String, Object> status) {
        String version = JsonTrees.text(JsonTrees.object(there, "metadata"), "resourceVersion");
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("apiVersion", NodeHealthClient.ALL.apiVersion());
        body.put("kind", NodeHealthClient.ALL.kind());
        body.put("metadata", Map.of("name", node, "resourceVersion", version));
        body.put("status", status);
        return body;
    }

    /**
     * A lock for each node, which writers of different parts of one NodeHealth hold in turn: the API server would refuse all but one of
     * them, for the version. For this process alone; the version protects against others. Thread-safe.
     */
    static final class WriteLocks {

        /** Nodes share locks. More than threads that write. */
        private static final int LOCKS = 1024;

        private static final List<ReentrantLock> ALL =
                Stream.generate(() -> new ReentrantLock(true)).limit(LOCKS).toList();

        private WriteLocks() {}

        static Lock of(String node) {
            return ALL.get(Math.floorMod(node.hashCode(), LOCKS));
        }
    }
}
