package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.process.RunningProcesses;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.Mode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.daemon.kube.KubernetesNode;
import dev.gpuwarden.daemon.vram.account.NodeAccount;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.daemon.vram.action.ContainerActuator;
import dev.gpuwarden.daemon.vram.action.ProcessSet;
import dev.gpuwarden.daemon.vram.action.SignalActuator;
import dev.gpuwarden.daemon.vram.action.SlurmActuator;
import dev.gpuwarden.daemon.vram.action.UnitActuator;
import dev.gpuwarden.daemon.vram.budgets.NodeBudgets;
import dev.gpuwarden.daemon.vram.kube.Advertiser;
import dev.gpuwarden.daemon.vram.kube.OverBudgetReports;
import dev.gpuwarden.daemon.vram.kube.PodBudgets;
import dev.gpuwarden.daemon.vram.kube.PodControl;
import dev.gpuwarden.daemon.vram.kube.VramKubeOptions;
import dev.gpuwarden.daemon.vram.kube.VramRequests;
import dev.gpuwarden.daemon.vram.limits.DriverLimits;
import dev.gpuwarden.daemon.vram.limits.LimitMode;
import dev.gpuwarden.daemon.vram.notice.NoticeBoard;
import dev.gpuwarden.daemon.vram.notice.NoticeSignals;
import dev.gpuwarden.daemon.vram.reserve.Applicants;
import dev.gpuwarden.daemon.vram.reserve.ReservationDesk;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.trace.DecisionLog;
import dev.gpuwarden.daemon.vram.trace.DecisionRecord;
import dev.gpuwarden.daemon.vram.watch.LocalCalls;
import dev.gpuwarden.daemon.vram.watch.Observations;
import dev.gpuwarden.daemon.vram.watch.Recycler;
import dev.gpuwarden.daemon.vram.watch.Remembered;
import dev.gpuwarden.daemon.vram.watch.VramMonitor;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget;
import dev.gpuwarden.watchdog.budget.TermsSource;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The settings of the VRAM watchdog. */
public final class VramOptions {

    private static final System.Logger LOG = System.getLogger(VramOptions.class.getName());

    /** Size of one of the two files of records. */
    private static final long RECORDS_BYTES = 8L << 20;

    @Mixin
    BudgetOptions budgets = new BudgetOptions();

    @Option(
            names = "--vram.mode",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description =
                    "Recycle a tenant over its budget while others lack memory: ${COMPLETION-CANDIDATES}. A dry run"
                            + " decides and reports, and ends no program (default: ${DEFAULT-VALUE}).")
    Mode mode = Mode.dry_run;

    @Bounds(from = "0s", to = "10m")
    @Option(
            names = "--vram.grace",
            defaultValue = "30s",
            paramLabel = "DURATION",
            description = "Time between the signal to end and the one that kills (default: ${DEFAULT-VALUE}).")
    Duration grace = Duration.ofSeconds(30);

    @Option(
            names = "--vram.rules",
            split = ",",
            paramLabel = "RULE=VALUE",
            description = "Rules of the watchdog that differ from their defaults, such as floor=2GiB or"
                    + " triggers=floor+demand.")
    List<String> rules = List.of();

    @Option(
            names = "--vram.driver-limits",
            defaultValue = "off",
            paramLabel = "MODE",
            description = "Have the driver (R615 and later) hold the control groups of tenants to their budgets:"
                    + " ${COMPLETION-CANDIDATES}. guarantee keeps a budget for its tenant, cap also refuses more."
                    + " Needs root; takes effect with --vram.mode=armed (default: ${DEFAULT-VALUE}).")
    LimitMode driverLimits = LimitMode.off;

    @Mixin
    VramKubeOptions kube = new VramKubeOptions();

    /** Returns whether memory is watched. */
    public boolean wanted() {
        return mode != Mode.off && (budgets.given() || kube.wanted());
    }

    /**
     * Returns the requests to the aggregator.
     *
     * @param uplink true if the node has an aggregator
     */
    public VramRequests requests(boolean uplink) {
        VramRequests requests = new VramRequests(uplink ? kube.resource() : "");
        if (!wanted() || !kube.advertises()) {
            requests.advertise(OptionalLong.empty());
        }
        return requests;
    }

    /** Returns true if a setting names budgets of pods. With the mode off, an earlier amount is removed from the Node. */
    public boolean wantsAccount() {
        return kube.wanted();
    }

    private boolean wantsPods() {
        return mode != Mode.off && kube.wanted();
    }

    /**
     * Returns the way to this node's pods. Without an aggregator it is the daemon's own account.
     *
     * @param account the connection to Kubernetes; empty with an aggregator
     */
    public PodControl control(Optional<KubernetesNode> account, VramRequests aggregator, Closer parts) {
        return account.<PodControl>map(node -> parts.add(NodeAccount.start(node.api(), kube.resource(), wantsPods())))
                .orElse(aggregator);
    }

    /**
     * Checks the settings and the file of budgets.
     *
     * @throws UserError with the setting, or file and line
     */
    public void validate(NodePaths paths) {
        kube.validate();
        var unused = rules();
        var unusedToo = budgets.sources(paths);
    }

    /**
     * Starts the watchdog, if a setting requests it.
     *
     * @param signals sends signals to processes
     * @param node name of this node
     * @param records file of the decisions; empty where events are in memory alone
     * @param cluster has the budgets of pods
     * @param kubelet asks the kubelet for the allocation of GPUs; may block
     */
    public Optional<VramMonitor> start(
            NodeSampler sampler,
            NodeMemory memory,
            NodePaths paths,
            Supplier<ProcessSignals> signals,
            String node,
            Optional<Path> records,
            PodControl cluster,
            Supplier<Reading<GpuHolders>> kubelet,
            Closer parts) {
        if (!wanted()) {
            return Optional.empty();
        }
        DecisionRecord.Origin origin =
                new DecisionRecord.Origin(node, NodeFacts.bootId(paths.procfs()), mode.toString());
        Remembered remembered = records.map(file -> Remembered.read(file, origin, System.nanoTime()))
                .orElse(Remembered.NOTHING);
        remembered.problems().forEach(problem -> LOG.log(System.Logger.Level.WARNING, problem));
        Optional<DecisionLog> log =
                records.map(file -> new DecisionLog(file, RECORDS_BYTES, origin, rules(), Clock.systemUTC()));
        Optional<NodeBudgets> file = budgets.read(paths);
        List<TermsSource> sources = new ArrayList<>(file.stream().toList());
        ProcessSet processes = new ProcessSet(signals, new RunningProcesses(paths.procfs()));
        List<Actuator> actuators = new ArrayList<>(actuators(processes));
        if (kube.wanted()) {
            AdvertisedBudget.Rules amounts = kube.rules(rules().pressure());
            PodBudgets pods = parts.add(new PodBudgets(
                    cluster,
                    kubelet,
                    sampler::snapshot,
                    new Advertiser(
                            cluster::advertise,
                            kube.advertises(),
                            () -> AdvertisedBudget.of(sampler.snapshot(), amounts)),
                    grace));
            sources.add(pods.terms());
            actuators.add(pods.eviction());
        }
        VramMonitor monitor = new VramMonitor(
                sampler,
                new Observations(sampler, memory, sources),
                rules(),
                remembered,
                log,
                new Recycler(mode == Mode.armed, actuators, log),
                calls(new Applicants(paths, sources), processes, file, log),
                Clock.systemUTC());
        parts.add(monitor);
        monitor.start();
        if (driverLimits != LimitMode.off) {
            parts.add(DriverLimits.start(
                    monitor::observed, sampler::cgroupLimits, paths.procfs(), driverLimits, mode == Mode.armed));
        }
        if (kube.wanted()) {
            parts.add(OverBudgetReports.start(cluster, monitor::statuses));
        }
        return Optional.of(monitor);
    }

    private WatchdogRules rules() {
        Map<String, String> changes = new LinkedHashMap<>();
        for (String rule : rules) {
            int equals = rule.indexOf('=');
            if (equals < 1 || changes.put(rule.substring(0, equals), rule.substring(equals + 1)) != null) {
                throw new UserError("--vram.rules: expected RULE=VALUE, each rule once, but was '" + rule + "'");
            }
        }
        return WatchdogRules.DEFAULT.with(changes);
    }

    private LocalCalls calls(
            Applicants applicants, ProcessSet processes, Optional<NodeBudgets> file, Optional<DecisionLog> log) {
        boolean armed = mode == Mode.armed;
        NoticeSignals signals = new NoticeSignals(
                armed, processes, (gpu, tenant) -> file.flatMap(budgets -> budgets.signal(gpu, tenant)));
        return new LocalCalls(
                new ReservationDesk(applicants, rules(), Clock.systemUTC()),
                new NoticeBoard(rules().recycle(), armed, applicants, signals, log, Clock.systemUTC()));
    }

    private List<Actuator> actuators(ProcessSet processes) {
        List<Actuator> all = new ArrayList<>(List.of(new UnitActuator(), new SlurmActuator()));
        budgets.engines().forEach(engine -> all.add(new ContainerActuator(engine, grace)));
        all.add(new SignalActuator("process:", processes, grace));
        return all;
    }
}
