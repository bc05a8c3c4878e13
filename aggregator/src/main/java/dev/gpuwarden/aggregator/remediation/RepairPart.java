package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.drain.DrainPart;
import dev.gpuwarden.aggregator.janitor.JanitorPart;
import dev.gpuwarden.aggregator.nodestatus.NodeNews;
import dev.gpuwarden.aggregator.part.ArmedRights;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.part.MetricFamilies;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.quarantine.NodeStep;
import dev.gpuwarden.aggregator.quarantine.QuarantineController;
import dev.gpuwarden.aggregator.quarantine.QuarantinePart;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.Mode;
import dev.gpuwarden.cli.UserError;
import io.prometheus.metrics.model.snapshots.Labels;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Repairs drained nodes by maintenance resources. It has its own queue, so that a repair waits for no drain of another node. */
public final class RepairPart implements Part, NodeStep {

    private static final int THREADS = 16;

    /** The switch for the approval of each action. */
    enum Approval {
        automatic,
        manual
    }

    @Option(
            names = "--remediation.mode",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description =
                    "Repair drained nodes by a GPUReset or a RebootNode: ${COMPLETION-CANDIDATES}. A dry run decides"
                            + " and reports, and makes no object; armed needs --drain.mode=armed (default:"
                            + " ${DEFAULT-VALUE}).")
    Mode mode = Mode.dry_run;

    @Option(
            names = "--remediation.approval",
            defaultValue = "automatic",
            paramLabel = "SWITCH",
            description = "Stop before each action until gpuwarden approve NODE, or not:"
                    + " ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Approval approval = Approval.automatic;

    @Bounds(from = "1", to = "10")
    @Option(
            names = "--remediation.attempts",
            defaultValue = "2",
            paramLabel = "NUMBER",
            description = "Resets of one GPU within --remediation.memory before a reboot, and reboots for one GPU"
                    + " before the node waits for a person. A failure counts as the last attempt"
                    + " (default: ${DEFAULT-VALUE}).")
    int attempts = 2;

    @Bounds(from = "1ms")
    @Option(
            names = "--remediation.memory",
            defaultValue = "168h",
            paramLabel = "DURATION",
            description = "Time for which earlier repairs of a GPU count (default: ${DEFAULT-VALUE}).")
    Duration memory = Duration.ofDays(7);

    @Bounds(from = "1ms")
    @Option(
            names = "--remediation.settle",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description = "Time that a node has after a repair to report that the fault is over"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration settle = Duration.ofMinutes(5);

    @Option(
            names = "--remediation.templates",
            paramLabel = "FILE",
            description = "YAML file with resources of other kinds, as a Job or a ticket, to make for recommended"
                    + " actions (default: none; then such a node waits for a person).")
    @Nullable Path templates;

    private final QuarantinePart quarantine;
    private final DrainPart drain;
    private final JanitorPart janitor;
    private Optional<RepairReconciler.Settings> settings = Optional.empty();
    private Optional<RepairReconciler> repairs = Optional.empty();
    private Optional<WorkQueue> queue = Optional.empty();
    private Clock clock = Clock.systemUTC();

    /** @param janitor carries out the resources, if it is on; it has started */
    public RepairPart(QuarantinePart quarantine, DrainPart drain, JanitorPart janitor) {
        this.quarantine = quarantine;
        this.drain = drain;
        this.janitor = janitor;
        quarantine.follow(this);
    }

    /** Returns the mode as the options state it. */
    public Mode given() {
        return mode;
    }

    @Override
    public void configure() {
        settings = settings(quarantine.given() == Mode.armed, drain.given() == Mode.armed, janitor.lockNamespace());
    }

    /**
     * Returns the settings of repairs; empty if no decision is made. Throws {@link UserError} for invalid options.
     *
     * @param quarantineArmed true if nodes are taken out of service
     * @param drainArmed true if nodes in quarantine are drained
     * @param lockNamespace namespace of the Leases that lock nodes
     */
    Optional<RepairReconciler.Settings> settings(boolean quarantineArmed, boolean drainArmed, String lockNamespace) {
        if (mode == Mode.off) {
            return Optional.empty();
        }
        RepairTemplates own = templates == null ? RepairTemplates.NONE : TemplateFile.read(templates);
        if (mode == Mode.armed && !drainArmed) {
            throw new UserError("--remediation.mode=armed needs --drain.mode=armed: only drained nodes are repaired");
        }
        // Without quarantine no Node is marked as quarantined, and there is nothing to decide.
        return quarantineArmed ? Optional.of(settings(mode == Mode.armed, own, lockNamespace)) : Optional.empty();
    }

    /** Returns the file with users' own ways of repair; empty without one. */
    public Optional<Path> templates() {
        return Optional.ofNullable(templates);
    }

    /**
     * Returns the settings of repairs that are armed.
     *
     * @param own users' own ways of repair
     * @param lockNamespace namespace of the Leases that lock nodes
     */
    public RepairReconciler.Settings assumed(RepairTemplates own, String lockNamespace) {
        return settings(true, own, lockNamespace);
    }

    private RepairReconciler.Settings settings(boolean armed, RepairTemplates own, String lockNamespace) {
        return new RepairReconciler.Settings(
                armed, approval == Approval.manual, attempts, memory, settle, own, lockNamespace);
    }

    @Override
    public List<? extends Need> needs() {
        return settings.filter(RepairReconciler.Settings::armed)
                .map(RepairPart::withKinds)
                .orElse(List.of());
    }

    /** Returns the rights of repairs that are armed, and the kinds of users' templates. */
    public static List<? extends Need> withKinds(RepairReconciler.Settings set) {
        List<Need> needed = new ArrayList<>(needs(set));
        needed.add(api -> TemplateDiscovery.wrong(api, set.templates()));
        return needed;
    }

    /** Returns the rights of repairs that are armed, with those for users' own ways of repair. */
    public static List<Need.Rights> needs(RepairReconciler.Settings set) {
        List<Need.Rights> needed = new ArrayList<>(List.of(ArmedRights.armed("remediation")));
        if (!set.templates().rights().isEmpty()) {
            String setting = "--remediation.templates";
            String other = "no " + setting;
            needed.add(new Need.Rights(
                    setting,
                    set.templates().rights(),
                    "a ClusterRole of yours for them, with the label gpuwarden.dev/aggregate-to-remediation: \"true\"",
                    other));
            needed.add(ArmedRights.need(setting, "templates-locks", set.lockNamespace(), other));
        }
        return needed;
    }

    @Override
    public void start(Replica replica) {
        settings.ifPresent(set -> start(replica, set, replica.audits()::write));
    }

    /** @param audits receiver of each decision before it is carried out, and of each result */
    public void start(Replica replica, RepairReconciler.Settings set, Consumer<AuditLog.Entry> audits) {
        QuarantineController nodes = quarantine.controller().orElseThrow();
        WorkQueue names = replica.manager().queue("repair of node", THREADS);
        RepairReconciler reconciler = replica.manager()
                .keep(new RepairReconciler(
                        replica,
                        nodes.breaker(),
                        set,
                        janitor.controller().map(each -> each::listener),
                        names,
                        audits,
                        nodes::changed));
        replica.manager().onLeading(reconciler);
        reconciler.maintenance().listen(nodes::maintained);
        clock = replica.api().clock();
        settings = Optional.of(set);
        repairs = Optional.of(reconciler);
        queue = Optional.of(names.run(reconciler));
    }

    @Override
    public Optional<WorkQueue> queue() {
        return queue;
    }

    @Override
    public StepModes in(StepModes others) {
        return new StepModes(others.drain(), settings.map(set -> ActionMode.of(set.armed())));
    }

    @Override
    public List<NodeNews> events(CachedNode node) {
        return RepairEvents.of(node);
    }

    @Override
    public List<NodeNews> rehearsal(String node) {
        return RepairEvents.would(repairs.flatMap(each -> each.rehearsal(node)));
    }

    /** A dry run follows the resources of others, and reads no locks. */
    @Override
    public Optional<String> inProgress(CachedNode node) throws ApiException, InterruptedException {
        boolean armed = settings.filter(RepairReconciler.Settings::armed).isPresent();
        Optional<String> unknown = Optional.of(maintenance().of(node).unread())
                .filter(why -> armed && !why.isEmpty())
                .map(why -> "its maintenance is unknown: " + why);
        Optional<String> busy = unknown.or(() -> maintenance().inProgress(node));
        if (busy.isPresent() || !armed || repairs.isEmpty()) {
            return busy;
        }
        Optional<String> unwatched = repairs.get().unwatched(node);
        if (unwatched.isPresent() || janitor.controller().isEmpty()) {
            return unwatched;
        }
        return janitor.controller()
                .get()
                .janitor()
                .lockHolder(node.name())
                .map(holder -> "its lock is held by " + holder);
    }

    /** Returns the maintenance resources that this replica follows. */
    public MaintenanceView maintenance() {
        return repairs.isPresent() ? repairs.get().maintenance() : MaintenanceView.OFF;
    }

    /** Returns the reconciler; empty if nodes are not repaired. */
    public Optional<RepairReconciler> repairs() {
        return repairs;
    }

    /** Returns the age of the oldest action that has not ended, in seconds; 0 if there is none. */
    private long oldestLockSeconds() {
        Instant now = clock.instant();
        return Math.max(
                repairs.map(each -> each.oldestLockSeconds(now)).orElse(0L),
                janitor.controller()
                        .map(each -> each.resources().oldestLockSeconds(now))
                        .orElse(0L));
    }

    @Override
    public String mode() {
        return "remediation: " + (settings.isPresent() ? mode : Mode.off);
    }

    @Override
    public void addMetrics(MetricFamilies all) {
        repairs.ifPresent(each -> {
            RepairMetrics metrics = each.metrics();
            all.gauge("gpuwarden_aggregator_repair_nodes", "stage", metrics.stages(), Long::doubleValue);
            all.counter("gpuwarden_aggregator_repair_decisions", "decision", metrics.decisions.sums());
            all.counter(
                    "gpuwarden_aggregator_repairs",
                    metrics.results.sums().entrySet(),
                    ended -> Labels.of(
                            "kind",
                            ended.getKey().kind(),
                            "result",
                            ended.getKey().result()),
                    Map.Entry::getValue);
            all.seconds("gpuwarden_aggregator_repair_seconds", metrics.times.micros());
            all.gauge("gpuwarden_aggregator_maintenance_oldest_lock_seconds", oldestLockSeconds());
        });
    }
}
