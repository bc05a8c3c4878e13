package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.part.MetricFamilies;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.cli.Bounds;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** Reports faulty objects as faults of nodes, while quarantine is on. */
public final class MonitorPart implements Part {

    @Bounds(from = "1s")
    @Option(
            names = "--monitor.resync",
            defaultValue = "5m",
            paramLabel = "TIME",
            description = "Interval at which a MonitorPolicy is evaluated again for objects whose match time alone can"
                    + " change; the moment of the change is computed in addition (default: ${DEFAULT-VALUE}).")
    Duration resync = Duration.ofMinutes(5);

    @Bounds(from = "1", to = "64")
    @Option(
            names = "--monitor.concurrency",
            defaultValue = "8",
            paramLabel = "N",
            description = "Nodes whose object faults are written at the same time (default: ${DEFAULT-VALUE}).")
    int concurrency = 8;

    @Bounds(from = "1s")
    @Option(
            names = "--monitor.retry",
            defaultValue = "30s",
            paramLabel = "TIME",
            description =
                    "Interval of the search for kinds of objects that are not installed, or may not be read (default:"
                            + " ${DEFAULT-VALUE}).")
    Duration retry = Duration.ofSeconds(30);

    @Bounds(from = "1", to = "1000000")
    @Option(
            names = "--monitor.confirm-from",
            defaultValue = "" + MonitorSettings.CONFIRM_FROM,
            paramLabel = "N",
            description =
                    "Number of objects of its kind, or of nodes, from which a MonitorPolicy that matches more than half"
                            + " of them raises no new fault until a person confirms it (default: ${DEFAULT-VALUE}).")
    int confirmFrom = MonitorSettings.CONFIRM_FROM;

    private final Supplier<Optional<ActionMode>> quarantine;
    private Optional<MonitorSettings> settings = Optional.empty();
    private Optional<ObjectMonitor> monitor = Optional.empty();

    /** @param quarantine the mode of quarantine; empty if it is off */
    public MonitorPart(Supplier<Optional<ActionMode>> quarantine) {
        this.quarantine = quarantine;
    }

    @Override
    public void configure() {
        settings = quarantine.get().map(this::settings);
    }

    private MonitorSettings settings(ActionMode mode) {
        return new MonitorSettings(resync, concurrency, retry, mode == ActionMode.ARMED, confirmFrom);
    }

    @Override
    public void start(Replica replica) {
        monitor = settings.map(set -> replica.closer()
                .add(ObjectMonitor.start(replica.api(), replica.cache(), replica.manager()::onLeading, set)));
    }

    /** Adds the results of the monitor, and their cost. Only the leader reports policies and kinds. */
    @Override
    public void addMetrics(MetricFamilies all) {
        monitor.ifPresent(each -> addMetrics(all, each));
    }

    private static void addMetrics(MetricFamilies all, ObjectMonitor monitor) {
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
        all.gauge("gpuwarden_aggregator_monitor_matches", policies, MonitorPart::policy, PolicyStatus::matches);
        all.gauge(
                "gpuwarden_aggregator_monitor_objects_without_node",
                policies,
                MonitorPart::policy,
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
        all.counter("gpuwarden_aggregator_monitor_changes", metrics.received.sum());
        all.counter("gpuwarden_aggregator_monitor_writes", metrics.writes.sum());
        all.gauge("gpuwarden_aggregator_monitor_nodes_failing", monitor.failing());
        all.seconds("gpuwarden_aggregator_monitor_evaluation_seconds", metrics.evaluations.micros());
        all.seconds("gpuwarden_aggregator_monitor_change_to_event_seconds", metrics.changeToEvent.micros());
    }

    private static Labels policy(PolicyStatus status) {
        return Labels.of("policy", status.policy());
    }
}
