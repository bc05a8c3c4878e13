package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.Manager;
import java.util.Set;

/** All Nodes of the cluster, for an aggregator without controllers. It seeks no Lease. Thread-safe. */
final class NodeFollower implements AutoCloseable {

    private final Manager manager;
    private final NodeCache cache;

    /** Follows the Nodes from now on. Does not block. */
    NodeFollower(KubeClient api) {
        this.manager = new Manager(api);
        this.cache = new NodeCache(api.clock());
        var unused = manager.watch(NodeCache.NODES, cache.nodes());
    }

    NodeCache cache() {
        return cache;
    }

    /** Returns the plurals of the kinds whose informers have not synced yet. */
    Set<String> waitingFor() {
        return manager.waitingFor();
    }

    @Override
    public void close() {
        manager.close();
    }
}
