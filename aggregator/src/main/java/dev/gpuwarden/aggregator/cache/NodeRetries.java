package dev.gpuwarden.aggregator.cache;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Tries a reconcile of a Node again while the changes of other writers make the API server refuse its write. Thread-safe. */
public final class NodeRetries {

    private static final int MOST_TRIES = 8;

    /** One try on a version of the Node. */
    public interface Attempt {
        void on(CachedNode node) throws ApiException, InterruptedException;
    }

    private final KubeClient api;
    private final NodeCache cache;

    public NodeRetries(KubeClient api, NodeCache cache) {
        this.api = api;
        this.cache = cache;
    }

    /**
     * Tries until a write is accepted, or none is needed. Each further try has the version of the other writer, from the cache
     * or else from the API server.
     *
     * @param open false to stop before the next try
     * @param later returns true for a Node that is reconciled again when the watch has delivered the change, without a read
     * @return false if the cache has no such Node now
     */
    public boolean reconcile(String name, BooleanSupplier open, Attempt attempt, Predicate<CachedNode> later)
            throws ApiException, InterruptedException {
        Optional<CachedNode> node = cache.node(name);
        for (int tries = 1; node.isPresent() && open.getAsBoolean(); tries++) {
            CachedNode tried = node.get();
            try {
                attempt.on(tried);
                return true;
            } catch (ApiException e) {
                if (e.notFound() || !(e.conflict() || e.invalid()) || tries == MOST_TRIES) {
                    throw e;
                }
                node = cache.node(name);
                if (node.filter(now -> now.resourceVersion().equals(tried.resourceVersion()))
                        .isPresent()) {
                    if (later.test(tried)) {
                        return true;
                    }
                    node = Optional.of(read(tried, e));
                }
            }
        }
        return node.isPresent();
    }

    private CachedNode read(CachedNode tried, ApiException refused) throws ApiException, InterruptedException {
        CachedNode read = CachedNode.of(api.get(NodeCache.NODES.path(tried.name())));
        if (read.resourceVersion().equals(tried.resourceVersion())) {
            throw refused;
        }
        return read;
    }
}
