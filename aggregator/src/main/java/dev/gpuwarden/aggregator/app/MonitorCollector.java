package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.objectmonitor.MonitorMetrics;
import dev.gpuwarden.aggregator.objectmonitor.ObjectMonitor;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The metrics of the object monitor: its results and their cost. Only the leader reports policies and kinds. */
final class MonitorCollector {

    private MonitorCollector() {}

    static List<MetricSnapshot> of(ObjectMonitor monitor) {
        List<MetricSnapshot> all = new ArrayList<>();
        GaugeSnapshot.Builder objects = AggregatorMetrics.gauge(
                "gpuwarden_aggregator_monitor_objects", "Objects of this kind that are watched.");
        GaugeSnapshot.Builder timed = AggregatorMetrics.gauge(
                "gpuwarden_aggregator_monitor_timed_objects",
                "Watched objects of this kind whose match time alone can change.");
        GaugeSnapshot.Builder watching = AggregatorMetrics.gauge(
                "gpuwarden_aggregator_monitor_watching", "1 if the watch of this kind delivers changes now.");
        monitor.followed().forEach((kind, followed) -> {
            Labels labels = Labels.of("kind", kind);
            objects.dataPoint(AggregatorMetrics.point(labels, followed.objects()));
            timed.dataPoint(AggregatorMetrics.point(labels, followed.timed()));
            watching.dataPoint(AggregatorMetrics.point(labels, followed.watching() ? 1 : 0));
        });
        all.add(objects.build());
        all.add(timed.build());
        all.add(watching.build());
        GaugeSnapshot.Builder ready = AggregatorMetrics.gauge(
                "gpuwarden_aggregator_monitor_policy_ready",
                "1 if this MonitorPolicy works; otherwise its condition has the reason.");
        GaugeSnapshot.Builder matches =
                AggregatorMetrics.gauge("gpuwarden_aggregator_monitor_matches", "Objects that this policy matches.");
        GaugeSnapshot.Builder most = AggregatorMetrics.gauge(
                "gpuwarden_aggregator_monitor_matches_of_one_node",
                "Objects of one node that this policy matches: the count of the node that has the most.");
        GaugeSnapshot.Builder nodeless = AggregatorMetrics.gauge(
                "gpuwarden_aggregator_monitor_objects_without_node", "Objects that match and concern no node.");
        for (PolicyStatus status : monitor.statuses()) {
            Labels policy = Labels.of("policy", status.policy());
            ready.dataPoint(AggregatorMetrics.point(
                    Labels.of("policy", status.policy(), "reason", status.reason()), status.ready() ? 1 : 0));
            matches.dataPoint(AggregatorMetrics.point(policy, status.matches()));
            nodeless.dataPoint(AggregatorMetrics.point(policy, status.withoutNode()));
        }
        monitor.mostOfANode()
                .forEach(
                        (policy, count) -> most.dataPoint(AggregatorMetrics.point(Labels.of("policy", policy), count)));
        all.add(ready.build());
        all.add(matches.build());
        all.add(most.build());
        all.add(nodeless.build());
        Map<String, Long> evaluations = new LinkedHashMap<>();
        Map<String, Long> errors = new LinkedHashMap<>();
        monitor.asked().forEach((policy, asked) -> {
            evaluations.put(policy, asked.times());
            errors.put(policy, asked.errors());
        });
        all.add(AggregatorMetrics.counter(
                "gpuwarden_aggregator_monitor_evaluations",
                "Evaluations of this policy for an object.",
                "policy",
                evaluations));
        all.add(AggregatorMetrics.counter(
                "gpuwarden_aggregator_monitor_errors",
                "Evaluations of this policy that failed, or did not find the node.",
                "policy",
                errors));
        MonitorMetrics tally = monitor.tally();
        all.add(AggregatorMetrics.counter(
                "gpuwarden_aggregator_monitor_changes", "Changes of objects that were received.", tally.changes()));
        all.add(AggregatorMetrics.counter(
                "gpuwarden_aggregator_monitor_writes", "NodeHealths that were written.", tally.written()));
        all.add(AggregatorMetrics.gauge(
                "gpuwarden_aggregator_monitor_nodes_failing",
                "Nodes and policies whose results could not be written; the write is retried.",
                monitor.failing()));
        all.add(AggregatorMetrics.seconds(
                "gpuwarden_aggregator_monitor_evaluation_seconds",
                "Time to evaluate one policy for one object: its match, and when that changes.",
                tally.evaluationMicros()));
        all.add(AggregatorMetrics.seconds(
                "gpuwarden_aggregator_monitor_change_to_event_seconds",
                "Time from the receipt of a matching object to the fault in its node's NodeHealth.",
                tally.changeToEventMicros()));
        return all;
    }
}
