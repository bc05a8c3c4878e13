package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.cache.NodeCache.CachedNodeHealth;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;

/**
 * The last check before an act on a node in quarantine: an eviction, or the creation of a maintenance resource. A decision is
 * made from caches, and its act may wait for a thread, a budget or an answer. During this time the node may return to service. Thread-safe.
 */
public record ActCheck(KubeClient api, NodeCache cache, Clock clock) {

    /**
     * Returns the Node as the API server has it now; empty if it is gone, was created again, takes pods, or is out of quarantine.
     * Blocks.
     */
    public Optional<CachedNode> node(CachedNode decided) throws ApiException, InterruptedException {
        return api.find(NodeCache.NODES.path(decided.name()))
                .map(CachedNode::of)
                .filter(now -> now.uid().equals(decided.uid()))
                .filter(DrainRequest::drainable);
    }

    /**
     * Returns the newest NodeHealth of a node: that of the watch while that is in time, else the API server's; empty if there is
     * none. Blocks.
     */
    public Optional<Map<String, Object>> health(String node) throws ApiException, InterruptedException {
        Optional<CachedNodeHealth> cached = cache.healthRead(node);
        if (cached.isPresent() && !FaultReport.isStale(cached.get(), clock.instant())) {
            return cached.map(CachedNodeHealth::tree);
        }
        Optional<Map<String, Object>> newest = api.find(NodeHealthClient.ALL.path(node));
        newest.ifPresent(cache::answered);
        return newest;
    }
}
