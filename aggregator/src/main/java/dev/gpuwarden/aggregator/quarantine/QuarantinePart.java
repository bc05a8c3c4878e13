package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.BreakerOptions;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.client.LeaderElector;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.part.ArmedRights;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.part.MetricFamilies;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.cli.Mode;
import dev.gpuwarden.cli.Switch;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Takes nodes out of service and back. Other parts add the steps that follow. */
public final class QuarantinePart implements Part {

    @Option(
            names = "--quarantine.mode",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description = "Take nodes with faults that meet a QuarantineRuleSet out of service, and return them:"
                    + " ${COMPLETION-CANDIDATES}. A dry run decides and reports, and changes no Node (default:"
                    + " ${DEFAULT-VALUE}).")
    Mode mode = Mode.dry_run;

    @Option(
            names = "--quarantine.force",
            defaultValue = "off",
            paramLabel = "SWITCH",
            description = "Let every node pass the breaker if its event has quarantineOverrides.force:"
                    + " ${COMPLETION-CANDIDATES}. Such an event needs no rule (default: ${DEFAULT-VALUE}).")
    Switch force = Switch.off;

    @Mixin
    BreakerOptions breaker = new BreakerOptions();

    private final List<NodeStep> steps = new ArrayList<>();
    private Optional<QuarantineSettings> settings = Optional.empty();
    private Optional<QuarantineController> controller = Optional.empty();

    @Override
    public void configure() {
        settings = ActionMode.of(mode)
                .map(action -> new QuarantineSettings(
                        namespace(), identity(), action, breaker.pools(), LeaderElector.Times.DEFAULT, force.isOn()));
    }

    /**
     * Returns a new identity. A pod keeps its name when its container restarts, and the Lease may still name the process
     * before.
     */
    private static String identity() {
        String host = System.getenv().getOrDefault("HOSTNAME", "gpuwarden");
        return host + "_" + UUID.randomUUID().toString().substring(0, 8);
    }

    /** Returns the mode as the options state it. */
    public Mode given() {
        return mode;
    }

    /** Returns the namespace of this program. */
    public String namespace() {
        return breaker.namespace();
    }

    @Override
    public List<Need> needs() {
        return mode == Mode.armed ? List.of(ArmedRights.armed("quarantine")) : List.of();
    }

    @Override
    public void start(Replica replica) {
        Map<String, String> dry = new HashMap<>();
        settings.ifPresent(set -> start(replica, set, audit -> write(replica.audits(), dry, audit)));
    }

    /** @param audits the receiver of each decision before its write */
    public void start(Replica replica, QuarantineSettings set, Consumer<AuditRecord> audits) {
        controller = Optional.of(new QuarantineController(replica, set, audits, steps));
    }

    /** Writes a record. A dry run repeats its decision with each change of a Node; the log has it once. */
    private static void write(AuditLog log, Map<String, String> dry, AuditRecord audit) {
        String decision = audit.kind() + " " + audit.reason();
        synchronized (dry) {
            if (audit.mode() != ActionMode.DRY_RUN) {
                log.write(audit.toTree());
            } else if (!decision.equals(dry.get(audit.node()))) {
                log.write(audit.toTree());
                // Last: what could not be written is written with the next change of the Node.
                dry.put(audit.node(), decision);
            }
        }
    }

    @Override
    public void run(Replica replica) {
        controller.ifPresent(QuarantineController::run);
    }

    /** Adds a step that follows quarantine. Steps follow in the order in which they are added, before {@link #run}. */
    public void follow(NodeStep step) {
        steps.add(step);
    }

    /** Returns the controller; empty before the start, and if quarantine is off. */
    public Optional<QuarantineController> controller() {
        return controller;
    }

    @Override
    public String mode() {
        return "quarantine: "
                + settings.map(set -> mode + ", as " + set.identity() + " in namespace " + set.namespace())
                        .orElse("off");
    }

    /** Adds the decisions about nodes, and the causes that delay them. */
    @Override
    public void addMetrics(MetricFamilies all) {
        controller.ifPresent(each -> addMetrics(all, each));
    }

    private static void addMetrics(MetricFamilies all, QuarantineController controller) {
        QuarantineMetrics metrics = controller.metrics();
        all.gauge("gpuwarden_aggregator_leads", controller.works() ? 1 : 0);
        all.gauge("gpuwarden_aggregator_nodes_queued", controller.queued());
        all.gauge("gpuwarden_aggregator_nodes_failing", controller.failing());
        all.counter("gpuwarden_aggregator_decisions", "decision", metrics.decisions.sums());
        all.counter("gpuwarden_aggregator_breaker_refusals", metrics.refused.sum());
        CircuitBreaker breaker = controller.breaker();
        all.gauge(
                "gpuwarden_aggregator_breaker_waiting_nodes",
                controller.works() ? breaker.waiting().size() : 0);
        Map<String, PoolCounts.Standing> pools = breaker.standing();
        Map<String, PoolState> states = breaker.state().pools();
        all.gauge("gpuwarden_aggregator_breaker_open", pools.keySet(), name -> Labels.of("pool", name), name -> {
            PoolState state = states.get(name);
            return state != null && state.status() == PoolState.Status.OPEN ? 1 : 0;
        });
        all.gauge("gpuwarden_aggregator_pool_nodes", "pool", pools, PoolCounts.Standing::total);
        all.gauge("gpuwarden_aggregator_pool_nodes_out_of_service", "pool", pools, PoolCounts.Standing::outOfService);
        all.gauge(
                "gpuwarden_aggregator_rule_set_ready",
                controller.rules().conditions(),
                condition -> Labels.of("rule_set", condition.ruleSet(), "reason", condition.reason()),
                condition -> condition.ready() ? 1 : 0);
        all.seconds("gpuwarden_aggregator_decision_seconds", metrics.times.micros());
    }
}
