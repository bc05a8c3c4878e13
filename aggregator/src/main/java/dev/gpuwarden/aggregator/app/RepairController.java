package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.app.JanitorController.Maintaining;
import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.quarantine.QuarantineEvents;
import dev.gpuwarden.aggregator.remediation.MaintenanceView;
import dev.gpuwarden.aggregator.remediation.RepairAuditLog.RepairAudit;
import dev.gpuwarden.aggregator.remediation.RepairEvents;
import dev.gpuwarden.aggregator.remediation.RepairMetrics;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The controller of repairs: the reconciler and its own queue, so that a repair waits for no drain of another node. */
public final class RepairController {

    private static final int THREADS = 16;

    /**
     * The settings of repairs, and the receiver of their audit records.
     *
     * @param maintaining the settings of the janitor, which follows the resources by the watches of repairs; empty if another
     *     program carries them out
     */
    public record Repairing(
            RepairReconciler.Settings settings, Consumer<RepairAudit> audits, Optional<Maintaining> maintaining) {}

    private final boolean armed;
    private final Clock clock;
    private final Optional<JanitorController> janitor;
    private final RepairReconciler repairs;
    private final WorkQueue queue;

    /** @param written receiver of the name of each node with news for operators */
    RepairController(
            Manager manager,
            KubeClient api,
            NodeCache cache,
            CircuitBreaker breaker,
            Repairing set,
            Clock clock,
            Consumer<String> written) {
        this.armed = set.settings().armed();
        this.clock = clock;
        this.queue = manager.queue("repair of node", THREADS);
        this.janitor = set.maintaining().map(each -> new JanitorController(manager, api, cache, each, clock));
        this.repairs = manager.keep(new RepairReconciler(
                api,
                cache,
                breaker,
                set.settings(),
                janitor.map(each -> each::listener),
                clock,
                set.audits(),
                queue::add,
                queue::addAfter,
                written));
        manager.onLeading(repairs);
        queue.run(repairs);
    }

    void add(String node) {
        queue.add(node);
    }

    /** Returns the Events of a dry run of a node's repair. */
    List<QuarantineEvents> rehearsal(String node) {
        return RepairEvents.would(repairs.rehearsal(node));
    }

    /**
     * Returns what is under way on a node, so that it must not return to service; empty if nothing is. A dry run follows the resources
     * of others, and reads no locks. Blocks for the API server.
     */
    Optional<String> inProgress(CachedNode node) throws ApiException, InterruptedException {
        Optional<String> unknown = Optional.of(maintenance().of(node).unread())
                .filter(why -> armed && !why.isEmpty())
                .map(why -> "its maintenance is unknown: " + why);
        Optional<String> busy = unknown.or(() -> maintenance().inProgress(node));
        if (busy.isPresent() || !armed) {
            return busy;
        }
        Optional<String> unwatched = repairs.unwatched(node);
        if (unwatched.isPresent() || janitor.isEmpty()) {
            return unwatched;
        }
        return janitor.get().janitor().lockHolder(node.name()).map(holder -> "its lock is held by " + holder);
    }

    MaintenanceView maintenance() {
        return repairs.maintenance();
    }

    /** Returns the age of the oldest action that has not ended, in seconds; 0 if there is none. */
    long oldestLockSeconds() {
        Instant now = clock.instant();
        return Math.max(
                repairs.oldestLockSeconds(now),
                janitor.map(each -> each.resources().oldestLockSeconds(now)).orElse(0L));
    }

    /** Returns the controller of the resources that repairs make; empty if another program carries them out. */
    Optional<JanitorController> janitor() {
        return janitor;
    }

    RepairMetrics metrics() {
        return repairs.metrics();
    }

    int queued() {
        return queue.size();
    }

    int failing() {
        return queue.failing();
    }
}
