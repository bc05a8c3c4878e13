package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.cache.NodeCache.CachedNodeHealth;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodestatus.ConditionReconciler;
import dev.gpuwarden.aggregator.nodestatus.NodeEventRecorder;
import dev.gpuwarden.aggregator.nodestatus.NodeNews;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.RuleSetStore;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The reconciler of one node: first its quarantine, which is urgent, then its conditions and Events. */
final class NodeReconciler {

    private final KubeClient api;
    private final Manager manager;
    private final ActionMode mode;
    private final NodeCache cache;
    private final RuleSetStore rules;
    private final QuarantineReconciler quarantine;
    private final List<NodeStep> steps;
    private final ConditionReconciler conditions;
    private final NodeEventRecorder events;
    private final Clock clock;
    private final QuarantineMetrics metrics = new QuarantineMetrics();

    /** @param steps those that follow quarantine, with the Events of a node */
    NodeReconciler(
            Replica replica,
            ActionMode mode,
            RuleSetStore rules,
            QuarantineReconciler quarantine,
            List<NodeStep> steps) {
        this.api = replica.api();
        this.manager = replica.manager();
        this.mode = mode;
        this.cache = replica.cache();
        this.rules = rules;
        this.quarantine = quarantine;
        this.steps = steps;
        this.clock = api.clock();
        this.conditions = new ConditionReconciler(api, clock);
        this.events = new NodeEventRecorder(api);
    }

    QuarantineMetrics metrics() {
        return metrics;
    }

    /** Takes the node out of service, or returns it. */
    void decide(String node) throws ApiException, InterruptedException {
        long start = System.nanoTime();
        Instant now = clock.instant();
        Optional<CachedNodeHealth> health = cache.healthRead(node);
        boolean stale = health.isPresent()
                && (!manager.isWatching(NodeHealthClient.ALL) || FaultReport.isStale(health.get(), now));
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
        Optional<NodeNews> quarantined = mode == ActionMode.ARMED
                ? QuarantineEvents.of(there.get())
                : QuarantineEvents.would(
                        quarantine.evaluate(report, rules.book()),
                        report.youngest().orElse(now));
        List<NodeNews> news = new ArrayList<>(quarantined.stream().toList());
        steps.forEach(step -> news.addAll(step.events(there.get())));
        steps.forEach(step -> news.addAll(step.rehearsal(node)));
        events.write(node, NodeEventRecorder.NodeEvent.of(there.get(), news, report.faults(), now));
    }

    /** Reads the NodeHealth from the API server, since the cache may be behind it. */
    private FaultReport newest(String node) throws ApiException, InterruptedException {
        Map<String, Object> newest = api.get(NodeHealthClient.ALL.path(node));
        cache.answered(newest);
        return FaultReport.of(node, Optional.of(newest), clock.instant());
    }
}
