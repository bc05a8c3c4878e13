package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.quarantine.CurrentFaults;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The requests by which the drains of nodes in quarantine were decided, also of nodes whose pods need not leave now: their faults
 * may be held, or their GPUs not reported yet. Thread-safe.
 */
final class DrainReasons {

    private final ActCheck check;
    private final NodeCache cache;
    private final boolean force;
    private final Map<String, DrainRequest> decided = new ConcurrentHashMap<>();

    /** @param force true if senders may request that all pods leave immediately */
    DrainReasons(ActCheck check, NodeCache cache, boolean force) {
        this.check = check;
        this.cache = cache;
        this.force = force;
    }

    /**
     * Returns what the faults of a node request now.
     *
     * @throws IOException if the Node's annotations cannot be read
     */
    DrainRequest decide(CachedNode node) throws IOException {
        if (!DrainRequest.drainable(node)) {
            decided.remove(node.name());
            return DrainRequest.NONE;
        }
        DrainRequest request = request(node, cache.health(node.name()));
        decided.put(node.name(), request);
        return request;
    }

    private DrainRequest request(CachedNode node, Optional<Map<String, Object>> health) throws IOException {
        return DrainRequest.of(node, CurrentFaults.of(health), force);
    }

    /** Returns true if the NodeHealth of a node requests another drain than the decided one. */
    boolean isNew(String name, Map<String, Object> health) {
        DrainRequest before = decided.get(name);
        Optional<CachedNode> node = before == null ? Optional.empty() : cache.node(name);
        try {
            return node.isPresent() && !request(node.get(), Optional.of(health)).equals(before);
        } catch (IOException e) {
            return true;
        }
    }

    /** Implements {@link PodEvictor.Recheck}: what the faults request now must include the decided request. */
    Optional<CachedNode> again(CachedNode node) throws ApiException, InterruptedException {
        DrainRequest before = decided.getOrDefault(node.name(), DrainRequest.NONE);
        Optional<CachedNode> now = check.node(node);
        if (now.isEmpty() || before.isNone()) {
            return Optional.empty();
        }
        try {
            DrainRequest request = request(now.get(), check.health(node.name()));
            return !request.isNone() && request.covers(before) ? now : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    void forget() {
        decided.clear();
    }
}
