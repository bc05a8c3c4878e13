package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.breaker.BreakerState.PoolState;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.RuleCondition;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The metrics of the controllers: decisions about nodes, and the causes that delay them. */
final class ControllerCollector {

    private ControllerCollector() {}

    static List<MetricSnapshot> of(Controllers steering) {
        List<MetricSnapshot> all = new ArrayList<>();
        all.add(AggregatorMetrics.gauge(
                "gpuwarden_aggregator_leads", "1 if this replica leads and acts.", steering.works() ? 1 : 0));
        all.add(AggregatorMetrics.gauge(
                "gpuwarden_aggregator_nodes_queued",
                "Nodes that wait for a worker or are being reconciled.",
                steering.queued()));
        all.add(AggregatorMetrics.gauge(
                "gpuwarden_aggregator_nodes_failing",
                "Nodes and other tasks that failed at the API server; they are retried.",
                steering.failing()));
        all.add(AggregatorMetrics.counter(
                "gpuwarden_aggregator_decisions",
                "Decisions about nodes, by what was decided.",
                "decision",
                steering.tally().decisions()));
        all.add(AggregatorMetrics.counter(
                "gpuwarden_aggregator_breaker_refusals",
                "Refusals of the breaker: each kept a node in service.",
                steering.tally().refused()));
        all.add(AggregatorMetrics.gauge(
                "gpuwarden_aggregator_breaker_waiting_nodes",
                "Nodes that only the breaker keeps in service.",
                steering.works() ? steering.gate().waiting().size() : 0));
        Map<String, PoolCounts.Standing> standing = steering.gate().standing();
        Map<String, PoolState> states = steering.gate().state().pools();
        GaugeSnapshot.Builder open =
                AggregatorMetrics.gauge("gpuwarden_aggregator_breaker_open", "1 if the breaker of this pool is open.");
        GaugeSnapshot.Builder nodes = AggregatorMetrics.gauge("gpuwarden_aggregator_pool_nodes", "Nodes of this pool.");
        GaugeSnapshot.Builder out = AggregatorMetrics.gauge(
                "gpuwarden_aggregator_pool_nodes_out_of_service",
                "Nodes of this pool that are cordoned or in quarantine.");
        standing.forEach((name, pool) -> {
            PoolState state = states.get(name);
            boolean isOpen = state != null && state.status() == PoolState.Status.OPEN;
            Labels labels = Labels.of("pool", name);
            open.dataPoint(AggregatorMetrics.point(labels, isOpen ? 1 : 0));
            nodes.dataPoint(AggregatorMetrics.point(labels, pool.total()));
            out.dataPoint(AggregatorMetrics.point(labels, pool.outOfService()));
        });
        all.add(open.build());
        all.add(nodes.build());
        all.add(out.build());
        GaugeSnapshot.Builder ready = AggregatorMetrics.gauge(
                "gpuwarden_aggregator_rule_set_ready",
                "1 if this QuarantineRuleSet is in use; otherwise its condition has the reason.");
        for (RuleCondition condition : steering.ruleConditions()) {
            ready.dataPoint(AggregatorMetrics.point(
                    Labels.of("rule_set", condition.ruleSet(), "reason", condition.reason()),
                    condition.ready() ? 1 : 0));
        }
        all.add(ready.build());
        all.add(AggregatorMetrics.seconds(
                "gpuwarden_aggregator_decision_seconds",
                "Time from a node's faults to its Node written.",
                steering.tally().micros()));
        steering.drains().ifPresent(drains -> all.addAll(drains(drains)));
        return all;
    }

    private static List<MetricSnapshot> drains(DrainReconciler drains) {
        return List.of(
                AggregatorMetrics.gauge(
                        "gpuwarden_aggregator_draining_nodes", "Nodes that are being drained.", drains.nodes()),
                AggregatorMetrics.gauge(
                        "gpuwarden_aggregator_drain_refused_pods",
                        "Pods whose eviction is refused now; it is retried.",
                        drains.refused()),
                AggregatorMetrics.gauge(
                        "gpuwarden_aggregator_drain_stuck_nodes",
                        "Nodes with pods that need an operator.",
                        drains.stuck()),
                AggregatorMetrics.counter(
                        "gpuwarden_aggregator_drain_decisions",
                        "Drains of nodes, by what was decided.",
                        "decision",
                        drains.tally().drains()),
                AggregatorMetrics.counter(
                        "gpuwarden_aggregator_drain_pods",
                        "Requests to end a pod, by outcome.",
                        "outcome",
                        drains.tally().pods()),
                AggregatorMetrics.seconds(
                        "gpuwarden_aggregator_drain_finish_seconds",
                        "Time from the end of a node's last pod to the record that its drain is finished.",
                        drains.tally().micros()));
    }
}
