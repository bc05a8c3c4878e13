package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.janitor.Janitor;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.MaintenanceCache;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A janitor without an election, as one that does not see yet that it no longer leads. */
final class JanitorReplica implements AutoCloseable {

    private final MaintenanceCache cache = new MaintenanceCache(node -> {});
    private final NodeCache nodes = new NodeCache(Clock.systemUTC());
    private final List<ResourceInformer> informers = new ArrayList<>();
    private final Janitor janitor;

    JanitorReplica(KubeClient api) {
        this.janitor = new Janitor(
                api,
                cache,
                Workshop.settings(RebootProvider.JOB, Workshop.times(Duration.ofMinutes(1))),
                NodeProvider.none(),
                node -> ReportedGpus.NONE,
                api.clock(),
                (node, delay) -> {},
                audit -> {});
        nodes.listen(new NodeCache.Listener() {
            @Override
            public void node(String name, Optional<CachedNode> node, boolean ours) {
                janitor.concerns(name, node);
            }
        });
        informers.add(api.informer(NodeCache.NODES, nodes.nodes()));
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            informers.add(api.informer(kind.resources(), cache.of(kind, () -> {})));
        }
    }

    /** Returns the number of resources that the watches have brought and that have not ended, by kind. */
    Map<String, Long> inProgress() {
        return cache.inProgress();
    }

    /** Makes all steps that are due on the node. */
    boolean works(String node) {
        try {
            janitor.reconcile(node);
            return true;
        } catch (ApiException e) {
            throw new AssertionError(node, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        informers.forEach(ResourceInformer::close);
    }
}
