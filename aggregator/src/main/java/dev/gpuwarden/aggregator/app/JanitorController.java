package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.controller.LeaderListener;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.janitor.Janitor;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.janitor.MaintenanceAuditLog.MaintenanceAudit;
import dev.gpuwarden.aggregator.janitor.MaintenanceCache;
import dev.gpuwarden.aggregator.janitor.NodeProvider;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Clock;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The controller of maintenance. It acts once its kinds have been listed: without their definitions nothing but maintenance
 * waits.
 */
public final class JanitorController {

    private static final int THREADS = 32;

    /** The settings of the janitor, its way to the provider of nodes, and the receiver of its audit records. */
    public record Maintaining(JanitorSettings settings, NodeProvider provider, Consumer<MaintenanceAudit> audits) {}

    private final Set<MaintenanceKind> unsynced = EnumSet.allOf(MaintenanceKind.class);
    private final MaintenanceCache resources;
    private final Janitor janitor;
    private final WorkQueue queue;

    JanitorController(Manager manager, KubeClient api, NodeCache nodes, Maintaining set, Clock clock) {
        this.queue = manager.queue("maintenance of node", THREADS);
        this.resources = new MaintenanceCache(queue::add);
        this.janitor = new Janitor(
                api,
                resources,
                set.settings(),
                set.provider(),
                node -> gpus(nodes, node),
                clock,
                queue::addAfter,
                set.audits());
        queue.run(this::reconcile);
        manager.onLeading(new LeaderListener() {
            @Override
            public void begin() {
                addAll();
            }

            @Override
            public void end() {}
        });
        nodes.listen(new NodeCache.Listener() {
            @Override
            public void node(String name, Optional<CachedNode> node, boolean ours) {
                if (janitor.concerns(name, node)) {
                    queue.add(name);
                }
            }

            @Override
            public void health(String name, Optional<Map<String, Object>> health) {}
        });
    }

    private static ReportedGpus gpus(NodeCache nodes, String name) {
        return nodes.node(name)
                .flatMap(node -> nodes.health(name).map(health -> NodeHealth.gpusOf(node.uid(), health)))
                .orElse(ReportedGpus.NONE);
    }

    /** Returns the listener for the watch of a kind, which this controller shares with the controller of repairs. */
    ResourceInformer.Listener listener(MaintenanceKind kind) {
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

    Janitor janitor() {
        return janitor;
    }

    MaintenanceCache resources() {
        return resources;
    }

    int queued() {
        return queue.size();
    }

    int failing() {
        return queue.failing();
    }
}
