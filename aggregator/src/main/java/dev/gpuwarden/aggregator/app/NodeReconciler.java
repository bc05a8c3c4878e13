package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.cache.NodeCache.CachedNodeHealth;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainEvents;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodestatus.ConditionReconciler;
import dev.gpuwarden.aggregator.nodestatus.NodeEventRecorder;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.quarantine.QuarantineEvents;
import dev.gpuwarden.aggregator.quarantine.QuarantineMetrics;
import dev.gpuwarden.aggregator.quarantine.QuarantineReconciler;
import dev.gpuwarden.aggregator.remediation.RepairEvents;
import dev.gpuwarden.aggregator.ruleset.RuleSetStore;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** The reconciler of one node: first its quarantine, which is urgent, then its conditions and Events. */
final class NodeReconciler {

    private final KubeClient api;
    private final ActionMode mode;
    private final NodeCache cache;
    private final RuleSetStore rules;
    private final QuarantineReconciler quarantine;
    private final ConditionReconciler conditions;
    private final NodeEventRecorder events;
    private final Clock clock;
    private final QuarantineMetrics metrics;
    private final BooleanSupplier followed;
    private final Function<String, List<QuarantineEvents>> rehearsals;

    /**
     * @param followed true while a watch of NodeHealths works
     * @param rehearsals the Events of dry runs of a node's drain and repair
     */
    NodeReconciler(
            KubeClient api,
            ActionMode mode,
            NodeCache cache,
            RuleSetStore rules,
            QuarantineReconciler quarantine,
            ConditionReconciler conditions,
            NodeEventRecorder events,
            Clock clock,
            QuarantineMetrics metrics,
            BooleanSupplier followed,
            Function<String, List<QuarantineEvents>> rehearsals) {
        this.api = api;
        this.mode = mode;
        this.cache = cache;
        this.rules = rules;
        this.quarantine = quarantine;
        this.conditions = conditions;
        this.events = events;
        this.clock = clock;
        this.metrics = metrics;
        this.followed = followed;
        this.rehearsals = rehearsals;
    }

    /** Takes the node out of service, or returns it. */
    void decide(String node) throws ApiException, InterruptedException {
        long start = System.nanoTime();
        Instant now = clock.instant();
        Optional<CachedNodeHealth> health = cache.healthRead(node);
        boolean stale = health.isPresent() && (!followed.getAsBoolean() || FaultReport.isStale(health.get(), now));
        Decision decision = quarantine.reconcile(
                FaultReport.of(node, health.map(CachedNodeHealth::tree), now),
                stale ? Optional.of(() -> newest(node)) : Optional.empty(),
                rules.book(),
                mode);
        decision.unanswered().ifPresent(sets -> rules.evaluated(node, sets));
        metrics.decided(decision, System.nanoTime() - start);
    }

    /** Writes the conditions and Events of the node, for operators. */
    void updateStatus(String node) throws ApiException, InterruptedException {
        Optional<CachedNode> there = cache.node(node);
        if (there.isEmpty()) {
            events.forget(node);
            return;
        }
        Instant now = clock.instant();
        FaultReport report = FaultReport.of(node, cache.health(node), now);
        if (mode == ActionMode.ARMED && report.unfitFor(there.get()).isEmpty()) {
            conditions.settle(there.get(), report.faults(), report.isWhole());
        }
        Optional<QuarantineEvents> quarantined = mode == ActionMode.ARMED
                ? QuarantineEvents.of(there.get())
                : QuarantineEvents.would(
                        quarantine.evaluate(report, rules.book()),
                        report.youngest().orElse(now));
        List<QuarantineEvents> news = new ArrayList<>(quarantined.stream().toList());
        news.addAll(DrainEvents.of(there.get()));
        news.addAll(RepairEvents.of(there.get()));
        news.addAll(rehearsals.apply(node));
        events.write(node, NodeEventRecorder.NodeEvent.of(there.get(), news, report.faults(), now));
    }

    /** Reads the NodeHealth from the API server, since the cache may be behind it. */
    private FaultReport newest(String node) throws ApiException, InterruptedException {
        Map<String, Object> newest = api.get(NodeHealthClient.ALL.path(node));
        cache.answered(newest);
        return FaultReport.of(node, Optional.of(newest), clock.instant());
    }
}
