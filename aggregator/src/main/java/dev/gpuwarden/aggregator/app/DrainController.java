package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.drain.DrainAuditLog.DrainAudit;
import dev.gpuwarden.aggregator.drain.DrainEvents;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.drain.GpuHolderSource;
import dev.gpuwarden.aggregator.drain.KubeletGpuHolders;
import dev.gpuwarden.aggregator.quarantine.QuarantineEvents;
import java.time.Clock;
import java.util.List;
import java.util.function.Consumer;

/** The controller of drains: the reconciler and its own queue, so that a cordon never waits for pods. */
public final class DrainController {

    private static final int THREADS = 16;

    /** The settings of drains, and the receiver of their audit records. */
    public record Draining(DrainReconciler.Settings settings, Consumer<DrainAudit> audits) {}

    private final DrainReconciler drains;
    private final WorkQueue queue;

    /** @param written receiver of the name of each node with news for operators */
    DrainController(
            Manager manager, KubeClient api, NodeCache cache, Draining set, Clock clock, Consumer<String> written) {
        this.queue = manager.queue("drain of node", THREADS);
        this.drains = manager.keep(new DrainReconciler(
                api,
                cache,
                set.settings(),
                manager.keep(new KubeletGpuHolders(
                        new GpuHolderSource.FromPodStatus(clock),
                        api,
                        cache,
                        clock,
                        set.settings().times().holders(),
                        set.settings().processes(),
                        queue::add)),
                clock,
                set.audits(),
                queue::add,
                queue::addAfter,
                written));
        manager.onLeading(drains);
        queue.run(drains);
    }

    void add(String node) {
        queue.add(node);
    }

    /** Returns the Events of a dry run of a node's drain. */
    List<QuarantineEvents> rehearsal(String node) {
        return DrainEvents.would(drains.rehearsal(node));
    }

    DrainReconciler drains() {
        return drains;
    }

    int queued() {
        return queue.size();
    }

    int failing() {
        return queue.failing();
    }
}
