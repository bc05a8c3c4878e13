package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainTimes;
import dev.gpuwarden.aggregator.nodestatus.NodeNews;
import dev.gpuwarden.aggregator.part.ArmedRights;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.part.MetricFamilies;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.aggregator.quarantine.NodeStep;
import dev.gpuwarden.aggregator.quarantine.QuarantinePart;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.Mode;
import dev.gpuwarden.cli.Switch;
import dev.gpuwarden.cli.UserError;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Drains nodes in quarantine. It has its own queue, so that a cordon never waits for pods. */
public final class DrainPart implements Part, NodeStep {

    private static final int THREADS = 16;

    @Option(
            names = "--drain.mode",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description = "Drain nodes in quarantine: ${COMPLETION-CANDIDATES}. A dry run decides and"
                    + " reports, and changes no pod; armed needs --quarantine.mode=armed (default: ${DEFAULT-VALUE}).")
    Mode mode = Mode.dry_run;

    @Option(
            names = "--drain.namespaces",
            split = ",",
            defaultValue = "*=AllowCompletion",
            paramLabel = "RULE",
            description = "Rules for pods by namespace: NAMESPACE=MODE, where a mode is Immediate,"
                    + " DeleteAfterTimeout or AllowCompletion. If several rules match, the first of these modes"
                    + " applies; pods that no rule matches stay (default: ${DEFAULT-VALUE}).")
    List<String> namespaces = new ArrayList<>(List.of("*=AllowCompletion"));

    @Option(
            names = "--drain.pods",
            split = ",",
            paramLabel = "RULE",
            description = "Rules for pods by label, before those by namespace: SELECTOR;MODE or"
                    + " SELECTOR;MODE;NAMESPACE. The first rule that matches applies.")
    List<String> pods = new ArrayList<>();

    @Option(
            names = "--drain.system-namespaces",
            defaultValue = SystemNamespaces.USUAL,
            paramLabel = "PATTERN",
            description = "Namespaces whose pods stay: a regular expression (default: ${DEFAULT-VALUE}).")
    String system = SystemNamespaces.USUAL;

    @Bounds(from = "0s", to = "24h")
    @Option(
            names = "--drain.grace",
            paramLabel = "DURATION",
            description =
                    "Time that containers have to end before they are killed (default: the grace period of each pod).")
    @Nullable Duration grace;

    @Option(
            names = "--drain.timeout",
            defaultValue = "60m",
            paramLabel = "DURATION",
            description =
                    "Time that DeleteAfterTimeout waits, from the beginning of the drain (default: ${DEFAULT-VALUE}).")
    Duration timeout = Duration.ofMinutes(60);

    @Option(
            names = "--drain.not-ready",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description =
                    "Pods that have not been ready for this long do not block the drain (default: ${DEFAULT-VALUE}).")
    Duration notReady = Duration.ofMinutes(5);

    @Option(
            names = "--drain.notice",
            defaultValue = "1h",
            paramLabel = "DURATION",
            description = "Longest time for a pod to save its work, if it requests a signal before its end"
                    + " (gpuwarden.dev/checkpoint-signal and -grace); 0 for no signals (default: ${DEFAULT-VALUE}).")
    Duration notice = Duration.ofHours(1);

    @Option(
            names = "--drain.force",
            defaultValue = "off",
            paramLabel = "SWITCH",
            description = "Remove all pods immediately, whatever these rules state, for an event that has"
                    + " drainOverrides.force: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Switch force = Switch.off;

    @Option(
            names = "--drain.processes",
            defaultValue = "leave",
            paramLabel = "SWITCH",
            description = "Pods whose processes hold a GPU of the drain without a request, for example by"
                    + " NVIDIA_VISIBLE_DEVICES or hostPath: ${COMPLETION-CANDIDATES}. A reset fails while they hold it"
                    + " (default: ${DEFAULT-VALUE}).")
    Processes processes = Processes.leave;

    /** The treatment of pods that hold a GPU by a process alone. */
    enum Processes {
        leave,
        evict
    }

    @Option(names = "--drain.empty-dir", description = "Remove pods with an emptyDir too. Its content is lost.")
    boolean emptyDir;

    @Option(names = "--drain.unmanaged", description = "Remove pods too that no controller starts again elsewhere.")
    boolean unmanaged;

    private final QuarantinePart quarantine;
    private Optional<DrainReconciler.Settings> settings = Optional.empty();
    private Optional<DrainReconciler> drains = Optional.empty();
    private Optional<WorkQueue> queue = Optional.empty();

    public DrainPart(QuarantinePart quarantine) {
        this.quarantine = quarantine;
        quarantine.follow(this);
    }

    @Override
    public void configure() {
        settings = settings(quarantine.given() == Mode.armed);
    }

    /**
     * Returns the settings of drains; empty if no decision is made. Throws {@link UserError} for invalid options.
     *
     * @param quarantineArmed true if nodes are taken out of service
     */
    Optional<DrainReconciler.Settings> settings(boolean quarantineArmed) {
        if (mode == Mode.off) {
            return Optional.empty();
        }
        DrainPolicies policies = policies();
        if (mode == Mode.armed && !quarantineArmed) {
            throw new UserError(
                    "--drain.mode=armed needs --quarantine.mode=armed: only nodes in quarantine are drained");
        }
        // Without quarantine no Node is marked as quarantined, and there is nothing to decide.
        return quarantineArmed
                ? Optional.of(new DrainReconciler.Settings(
                        mode == Mode.armed, policies, DrainTimes.DEFAULT, forces(), processes == Processes.evict))
                : Optional.empty();
    }

    /** Returns the mode as the options state it. */
    public Mode given() {
        return mode;
    }

    /** Returns true if senders may request that all pods leave immediately. */
    public boolean forces() {
        return force.isOn();
    }

    /** Returns the rules for pods. Throws {@link UserError} for invalid options. */
    public DrainPolicies policies() {
        return new DrainPolicies(
                read("--drain.pods", () -> DrainPolicies.Parser.pods(pods)),
                read(
                        "--drain.namespaces",
                        () -> namespaces.stream()
                                .map(String::strip)
                                .map(DrainPolicies.Parser::namespace)
                                .toList()),
                read("--drain.system-namespaces", () -> namespaces(system)),
                Optional.ofNullable(grace),
                timeout,
                notReady,
                notice,
                emptyDir,
                unmanaged);
    }

    private static SystemNamespaces namespaces(String text) {
        try {
            return SystemNamespaces.of(text);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException("expected a regular expression: " + e.getMessage(), e);
        }
    }

    private static <T> T read(String option, Supplier<T> text) {
        try {
            return text.get();
        } catch (IllegalArgumentException e) {
            throw new UserError(option + ": " + e.getMessage());
        }
    }

    @Override
    public List<Need.Rights> needs() {
        return settings.filter(DrainReconciler.Settings::armed)
                .map(set -> needs(set.policies()))
                .orElse(List.of());
    }

    /** Returns the rights of drains that are armed. */
    public static List<Need.Rights> needs(DrainPolicies policies) {
        List<Need.Rights> needed = new ArrayList<>(List.of(ArmedRights.armed("drain")));
        if (policies.uses(DrainMode.DELETE_AFTER_TIMEOUT)) {
            needed.add(ArmedRights.need(
                    "the mode " + DrainMode.DELETE_AFTER_TIMEOUT.label() + " of drains",
                    "drain-delete",
                    "",
                    "no such mode in --drain.namespaces and --drain.pods"));
        }
        return needed;
    }

    @Override
    public void start(Replica replica) {
        settings.ifPresent(set -> start(replica, set, replica.audits()::write));
    }

    /** @param audits receiver of each decision before it is carried out, and of its results */
    public void start(Replica replica, DrainReconciler.Settings set, Consumer<AuditLog.Entry> audits) {
        Manager manager = replica.manager();
        Clock clock = replica.api().clock();
        WorkQueue nodes = manager.queue("drain of node", THREADS);
        DrainReconciler reconciler = manager.keep(new DrainReconciler(
                replica,
                set,
                manager.keep(new KubeletGpuHolders(
                        new GpuHolderSource.FromPodStatus(clock),
                        replica.api(),
                        replica.cache(),
                        clock,
                        set.times().holders(),
                        set.processes(),
                        nodes::add)),
                nodes,
                audits,
                quarantine.controller().orElseThrow()::changed));
        manager.onLeading(reconciler);
        settings = Optional.of(set);
        drains = Optional.of(reconciler);
        queue = Optional.of(nodes.run(reconciler));
    }

    @Override
    public Optional<WorkQueue> queue() {
        return queue;
    }

    @Override
    public StepModes in(StepModes others) {
        return new StepModes(settings.map(set -> ActionMode.of(set.armed())), others.repair());
    }

    @Override
    public List<NodeNews> events(CachedNode node) {
        return DrainEvents.of(node);
    }

    @Override
    public List<NodeNews> rehearsal(String node) {
        return DrainEvents.would(drains.flatMap(each -> each.rehearsal(node)));
    }

    /** Returns the reconciler; empty if nodes are not drained. */
    public Optional<DrainReconciler> drains() {
        return drains;
    }

    @Override
    public String mode() {
        return "drain: " + (settings.isPresent() ? mode : Mode.off);
    }

    @Override
    public void addMetrics(MetricFamilies all) {
        drains.ifPresent(each -> {
            all.gauge("gpuwarden_aggregator_draining_nodes", each.nodes());
            all.gauge("gpuwarden_aggregator_drain_refused_pods", each.refused());
            all.gauge("gpuwarden_aggregator_drain_stuck_nodes", each.stuck());
            DrainMetrics metrics = each.metrics();
            all.counter("gpuwarden_aggregator_drain_decisions", "decision", metrics.drains.sums());
            all.counter("gpuwarden_aggregator_drain_pods", "outcome", metrics.pods.sums());
            all.seconds("gpuwarden_aggregator_drain_finish_seconds", metrics.finishes.micros());
        });
    }
}
