package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.ingest.IngestMetrics;
import dev.gpuwarden.aggregator.ingest.IngestServer;
import dev.gpuwarden.aggregator.objectmonitor.MonitorMetrics;
import dev.gpuwarden.aggregator.objectmonitor.ObjectMonitor;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus;
import dev.gpuwarden.aggregator.remediation.RepairMetrics;
import dev.gpuwarden.aggregator.vram.VramBudgets;
import dev.gpuwarden.aggregator.vram.VramMetrics;
import dev.gpuwarden.aggregator.vram.VramNodes;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.WebStats;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The metrics of the aggregator, for Prometheus, at `/metrics`. No series is per node: there are thousands, and NodeHealth has
 * the state of each.
 */
record AggregatorMetrics(
        IngestServer server,
        Optional<Controllers> controllers,
        Optional<ObjectMonitor> monitor,
        Optional<VramBudgets> vram,
        WebStats web)
        implements HttpHandler {

    @Override
    public boolean has(String path) {
        return path.equals("/metrics");
    }

    @Override
    public HttpAnswer answer(Request request) {
        MetricFamilies all = new MetricFamilies();
        addIngest(all);
        controllers.ifPresent(each -> addControllers(all, each));
        controllers.flatMap(Controllers::janitor).ifPresent(each -> addJanitor(all, each));
        monitor.ifPresent(monitors -> addMonitor(all, monitors));
        vram.ifPresent(budgets -> addVram(all, budgets));
        return HttpAnswer.of(200, MetricFamilies.TYPE, all.text());
    }

    private void addIngest(MetricFamilies all) {
        IngestMetrics metrics = server.metrics();
        all.gauge("gpuwarden_aggregator_nodes_connected", server.connected());
        all.gauge("gpuwarden_aggregator_nodes_behind", server.behind());
        all.counter("gpuwarden_aggregator_events", metrics.events.sum());
        all.counter("gpuwarden_aggregator_fault_tellings", metrics.generations.sum());
        all.counter("gpuwarden_aggregator_refused", "reason", metrics.refusals.sums());
        all.counter("gpuwarden_aggregator_streams_ended", "status", metrics.endings.sums());
        all.counter("gpuwarden_aggregator_lookups", "outcome", metrics.lookups.sums());
        all.counter("gpuwarden_aggregator_access_reviews", "outcome", metrics.reviews.sums());
        all.counter("gpuwarden_aggregator_write_failures", "answer", metrics.failures.sums());
        all.seconds("gpuwarden_aggregator_write_seconds", metrics.written());
        all.gauge("gpuwarden_web_connections", web.connections());
        all.gauge("gpuwarden_web_held_bytes", web.bodyBytes());
        all.counter(
                "gpuwarden_web_refused",
                "cause",
                Stream.of(WebStats.Refusal.values()).collect(Collectors.toMap(WebStats.Refusal::label, web::refusals)));
    }

    /** Adds the decisions about nodes, and the causes that delay them. */
    private static void addControllers(MetricFamilies all, Controllers controllers) {
        all.gauge("gpuwarden_aggregator_leads", controllers.works() ? 1 : 0);
        all.gauge("gpuwarden_aggregator_nodes_queued", controllers.queued());
        all.gauge("gpuwarden_aggregator_nodes_failing", controllers.failing());
        all.counter(
                "gpuwarden_aggregator_decisions",
                "decision",
                controllers.metrics().decisions());
        all.counter(
                "gpuwarden_aggregator_breaker_refusals", controllers.metrics().refused());
        all.gauge(
                "gpuwarden_aggregator_breaker_waiting_nodes",
                controllers.works() ? controllers.breaker().waiting().size() : 0);
        Map<String, PoolCounts.Standing> pools = controllers.breaker().standing();
        Map<String, PoolState> states = controllers.breaker().state().pools();
        all.gauge("gpuwarden_aggregator_breaker_open", pools.keySet(), name -> Labels.of("pool", name), name -> {
            PoolState state = states.get(name);
            return state != null && state.status() == PoolState.Status.OPEN ? 1 : 0;
        });
        all.gauge("gpuwarden_aggregator_pool_nodes", "pool", pools, PoolCounts.Standing::total);
        all.gauge("gpuwarden_aggregator_pool_nodes_out_of_service", "pool", pools, PoolCounts.Standing::outOfService);
        all.gauge(
                "gpuwarden_aggregator_rule_set_ready",
                controllers.ruleConditions(),
                condition -> Labels.of("rule_set", condition.ruleSet(), "reason", condition.reason()),
                condition -> condition.ready() ? 1 : 0);
        all.seconds(
                "gpuwarden_aggregator_decision_seconds", controllers.metrics().micros());
        controllers.drains().ifPresent(drains -> addDrains(all, drains));
        controllers.repairs().ifPresent(repairs -> {
            addRepairs(all, repairs.metrics());
            all.gauge("gpuwarden_aggregator_maintenance_oldest_lock_seconds", repairs.oldestLockSeconds());
        });
    }

    private static void addDrains(MetricFamilies all, DrainReconciler drains) {
        all.gauge("gpuwarden_aggregator_draining_nodes", drains.nodes());
        all.gauge("gpuwarden_aggregator_drain_refused_pods", drains.refused());
        all.gauge("gpuwarden_aggregator_drain_stuck_nodes", drains.stuck());
        all.counter(
                "gpuwarden_aggregator_drain_decisions",
                "decision",
                drains.metrics().drains());
        all.counter(
                "gpuwarden_aggregator_drain_pods", "outcome", drains.metrics().pods());
        all.seconds(
                "gpuwarden_aggregator_drain_finish_seconds", drains.metrics().micros());
    }

    private static void addRepairs(MetricFamilies all, RepairMetrics metrics) {
        all.gauge("gpuwarden_aggregator_repair_nodes", "stage", metrics.stages(), Long::doubleValue);
        all.counter("gpuwarden_aggregator_repair_decisions", "decision", metrics.decisions());
        all.counter(
                "gpuwarden_aggregator_repairs",
                metrics.results().entrySet(),
                ended -> Labels.of(
                        "kind", ended.getKey().kind(), "result", ended.getKey().result()),
                Map.Entry::getValue);
        all.seconds("gpuwarden_aggregator_repair_seconds", metrics.micros());
    }

    /** Adds the results of the object monitor, and their cost. Only the leader reports policies and kinds. */
    private static void addMonitor(MetricFamilies all, ObjectMonitor monitor) {
        var kinds = monitor.followed();
        all.gauge("gpuwarden_aggregator_monitor_objects", "kind", kinds, ObjectMonitor.Followed::objects);
        all.gauge("gpuwarden_aggregator_monitor_timed_objects", "kind", kinds, ObjectMonitor.Followed::timed);
        all.gauge("gpuwarden_aggregator_monitor_watching", "kind", kinds, kind -> kind.watching() ? 1 : 0);
        List<PolicyStatus> policies = monitor.statuses();
        all.gauge(
                "gpuwarden_aggregator_monitor_policy_ready",
                policies,
                status -> Labels.of("policy", status.policy(), "reason", status.reason()),
                status -> status.ready() ? 1 : 0);
        all.gauge("gpuwarden_aggregator_monitor_matches", policies, AggregatorMetrics::policy, PolicyStatus::matches);
        all.gauge(
                "gpuwarden_aggregator_monitor_objects_without_node",
                policies,
                AggregatorMetrics::policy,
                PolicyStatus::withoutNode);
        all.gauge(
                "gpuwarden_aggregator_monitor_matches_of_one_node",
                "policy",
                monitor.mostOfANode(),
                Integer::doubleValue);
        var evaluations = monitor.asked();
        all.counter("gpuwarden_aggregator_monitor_evaluations", "policy", evaluations, ObjectMonitor.Asked::times);
        all.counter("gpuwarden_aggregator_monitor_errors", "policy", evaluations, ObjectMonitor.Asked::errors);
        MonitorMetrics metrics = monitor.metrics();
        all.counter("gpuwarden_aggregator_monitor_changes", metrics.changes());
        all.counter("gpuwarden_aggregator_monitor_writes", metrics.written());
        all.gauge("gpuwarden_aggregator_monitor_nodes_failing", monitor.failing());
        all.seconds("gpuwarden_aggregator_monitor_evaluation_seconds", metrics.evaluationMicros());
        all.seconds("gpuwarden_aggregator_monitor_change_to_event_seconds", metrics.changeToEventMicros());
    }

    /** Adds the VRAM budgets of the nodes that report to this replica. */
    private static void addVram(MetricFamilies all, VramBudgets budgets) {
        VramNodes nodes = budgets.nodes();
        VramMetrics metrics = budgets.metrics();
        all.gauge("gpuwarden_aggregator_vram_nodes", nodes.joined());
        all.gauge("gpuwarden_aggregator_vram_watched_nodes", nodes.watched());
        all.gauge("gpuwarden_aggregator_vram_nodes_failing", nodes.failing());
        all.counter("gpuwarden_aggregator_vram_lists", metrics.lists());
        all.counter("gpuwarden_aggregator_vram_advertised", "outcome", metrics.advertised());
        all.counter("gpuwarden_aggregator_vram_removals", "outcome", metrics.removals());
        budgets.waiting().ifPresent(pods -> all.gauge("gpuwarden_aggregator_vram_waiting_pods", pods));
        all.counter("gpuwarden_aggregator_vram_waiting_events", "outcome", metrics.waiting());
    }

    /** Adds the maintenance of nodes. Ended resources count for as long as they are kept. */
    private static void addJanitor(MetricFamilies all, JanitorController janitor) {
        all.gauge(
                "gpuwarden_aggregator_maintenance_in_progress",
                "kind",
                janitor.resources().inProgress(),
                Long::doubleValue);
        all.counter(
                "gpuwarden_aggregator_maintenance_completed",
                "result",
                janitor.janitor().metrics().completed());
        all.gauge(
                "gpuwarden_aggregator_maintenance_services_not_restored",
                janitor.resources().servicesNotRestored());
        all.gauge(
                "gpuwarden_aggregator_maintenance_left_to_others",
                janitor.janitor().foreign());
    }

    private static Labels policy(PolicyStatus status) {
        return Labels.of("policy", status.policy());
    }
}
