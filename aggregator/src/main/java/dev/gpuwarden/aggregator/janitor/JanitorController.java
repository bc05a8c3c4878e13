package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.core.node.ReportedGpus;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The controller of maintenance. It acts once its kinds have been listed: without their definitions nothing but maintenance
 * waits.
 */
public final class JanitorController {

    private static final int THREADS = 32;

    private final Set<MaintenanceKind> unsynced = EnumSet.allOf(MaintenanceKind.class);
    private final MaintenanceCache resources;
    private final Janitor janitor;
    private final WorkQueue queue;

    JanitorController(
            Replica replica, JanitorSettings settings, NodeProvider provider, Consumer<AuditLog.Entry> audits) {
        Manager manager = replica.manager();
        NodeCache nodes = replica.cache();
        this.queue = manager.queue("maintenance of node", THREADS);
        this.resources = new MaintenanceCache(queue::add);
        this.janitor = new Janitor(
                replica.api(),
                resources,
                settings,
                provider,
                node -> gpus(nodes, node),
                replica.api().clock(),
                queue::addAfter,
                audits);
        queue.run(this::reconcile);
        manager.onLeading(this::addAll);
        nodes.listen(new NodeCache.Listener() {
            @Override
            public void node(String name, Optional<CachedNode> node, boolean ours) {
                if (janitor.concerns(name, node)) {
                    queue.add(name);
                }
            }
        });
    }

    private static ReportedGpus gpus(NodeCache nodes, String name) {
        return nodes.node(name)
                .flatMap(node -> nodes.health(name).map(health -> NodeHealth.gpusOf(node.uid(), health)))
                .orElse(ReportedGpus.NONE);
    }

    /** Returns the listener for the watch of a kind, which this controller shares with the controller of repairs. */
    public ResourceInformer.Listener listener(MaintenanceKind kind) {
        return resources.of(kind, () -> synced(kind));
    }

    private void synced(MaintenanceKind kind) {
        boolean all;
        synchronized (unsynced) {
            all = unsynced.remove(kind) && unsynced.isEmpty();
        }
        if (all) {
            addAll();
        }
    }

    private void addAll() {
        resources.nodes().forEach(queue::add);
    }

    private void reconcile(String node) throws ApiException, InterruptedException {
        boolean ready;
        synchronized (unsynced) {
            ready = unsynced.isEmpty();
        }
        if (ready) {
            janitor.reconcile(node);
        }
    }

    public Janitor janitor() {
        return janitor;
    }

    public MaintenanceCache resources() {
        return resources;
    }

    /** Returns the queue of the nodes whose maintenance is carried out. */
    public WorkQueue queue() {
        return queue;
    }
}
