package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.GpuFileHolders;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.Mode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.repair.RebootOptions.Reboot;
import dev.gpuwarden.daemon.reset.ResetState;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The settings of repairs of this server by its own daemon. */
public final class RepairOptions {

    private static final System.Logger LOG = System.getLogger(RepairOptions.class.getName());

    private static final int MOST_UNITS = 32;

    /** Names of units with their type (systemd.unit(5)); none begins with a dash, which would be an option. */
    private static final Pattern UNIT = Pattern.compile("[A-Za-z0-9:_.\\\\@][A-Za-z0-9:_.\\\\@-]*\\.[a-z]+");

    private static final Pattern NODE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

    @Option(
            names = "--repair.mode",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description =
                    "Repair this server when a fatal fault asks for a reset or a reboot: ${COMPLETION-CANDIDATES}. A dry run"
                            + " decides and reports. With an aggregator, or an account of Kubernetes, the daemon repairs"
                            + " nothing (default: ${DEFAULT-VALUE}).")
    Mode mode = Mode.dry_run;

    @Bounds(from = "0s", to = "1h")
    @Option(
            names = "--repair.settle",
            defaultValue = "1m",
            paramLabel = "DURATION",
            description =
                    "Time that a fault lasts before its repair, and that the server has after one to report that it"
                            + " is over (default: ${DEFAULT-VALUE}).")
    Duration settle = Duration.ofMinutes(1);

    @Bounds(from = "1", to = "10")
    @Option(
            names = "--repair.attempts",
            defaultValue = "2",
            paramLabel = "N",
            description =
                    "Resets of one GPU within 7 days before the reboot, and reboots for one GPU before an operator"
                            + " (default: ${DEFAULT-VALUE}).")
    int attempts = 2;

    @Bounds(from = "1", to = "100")
    @Option(
            names = "--repair.most-per-day",
            defaultValue = "4",
            paramLabel = "N",
            description = "Repairs of all kinds within 24 h; then an operator continues (default: ${DEFAULT-VALUE}).")
    int mostPerDay = 4;

    @Option(
            names = "--repair.stop-units",
            split = ",",
            paramLabel = "UNIT",
            description =
                    "Units of systemd that use GPUs, such as llama.service: stopped in this order before a repair if"
                            + " they run, and started again after it, whatever its end.")
    List<String> units = List.of();

    @Option(
            names = "--repair.slurm-node",
            paramLabel = "NODE",
            description = "The name of this node in Slurm: drained before a repair, and resumed when no fault is left.")
    @Nullable String slurm;

    @Bounds(from = "0s", to = "7d")
    @Option(
            names = "--repair.slurm-wait",
            defaultValue = "4h",
            paramLabel = "DURATION",
            description = "Longest wait for the jobs of Slurm to end (default: ${DEFAULT-VALUE}).")
    Duration slurmWait = Duration.ofHours(4);

    @Bounds(from = "0s", to = "1h")
    @Option(
            names = "--repair.patience",
            defaultValue = "30s",
            paramLabel = "DURATION",
            description = "Longest wait for other processes to let go of the GPU before its reset; the reset"
                    + " is held then, and tried again an hour later (default: ${DEFAULT-VALUE}).")
    Duration patience = Duration.ofSeconds(30);

    @Option(
            names = "--repair.reset-as",
            defaultValue = "child",
            paramLabel = "PROCESS",
            description =
                    "Process that runs gpu-reset, and bundle before a reboot: ${COMPLETION-CANDIDATES}. A child has"
                            + " the daemon's rights, a transient unit of systemd has root's (default: ${DEFAULT-VALUE}).")
    RepairProcess resetAs = RepairProcess.child;

    @Mixin
    ResetState state = new ResetState();

    @Mixin
    RebootOptions reboot = new RebootOptions();

    @Mixin
    HookOptions hook = new HookOptions();

    /**
     * The parts of the daemon that the repair reads.
     *
     * @param damping parts between healthy and faulty
     * @param results the last result of each check
     * @param known the GPUs that the driver listed at any time
     * @param record file of the repairs; empty where events are in memory alone
     * @param resetSettings options of the daemon that gpu-reset gets too
     * @param bundleSettings those that bundle gets too
     * @param checks runs all checks of this daemon once, and returns when they have ended
     * @param load true if checks after a boot give work to a GPU, which no other process may hold then
     * @param incomplete the reason for which the faults are not all found yet; empty once they are
     */
    public record Surroundings(
            EventReader faults,
            Supplier<List<Damping>> damping,
            Supplier<List<CheckResult>> results,
            Supplier<NodeSnapshot> node,
            Supplier<KnownGpus> known,
            NodePaths paths,
            Optional<Path> record,
            Supplier<List<String>> resetSettings,
            Supplier<List<String>> bundleSettings,
            Runnable checks,
            boolean load,
            Supplier<Optional<String>> incomplete) {}

    /**
     * Checks the settings.
     *
     * @param managed true if an aggregator, or Kubernetes, has the node
     * @throws UserError with the setting
     */
    public void validate(boolean managed) {
        if (mode == Mode.armed && managed) {
            throw new UserError(
                    "--repair.mode=armed is for a server without Kubernetes: the aggregator repairs the nodes"
                            + " of a cluster; leave it out");
        }
        if (units.size() > MOST_UNITS) {
            throw new UserError("--repair.stop-units: expected at most " + MOST_UNITS + ", seen " + units.size());
        }
        for (String unit : units) {
            if (!UNIT.matcher(unit).matches()) {
                throw new UserError("--repair.stop-units: expected a unit with its type, such as llama.service, seen '"
                        + unit + "'");
            }
        }
        if (slurm != null && !NODE.matcher(slurm).matches()) {
            throw new UserError("--repair.slurm-node: expected the name of one node, seen '" + slurm + "'");
        }
        reboot.validate();
        hook.validate();
    }

    /**
     * Starts the repair, if a setting and the node permit it.
     *
     * @param managed true if an aggregator, or Kubernetes, has the node
     * @return empty if it is off
     */
    public Optional<ServerRepair> start(boolean managed, Surroundings around, Closer parts) {
        if (mode == Mode.off || managed) {
            return Optional.empty();
        }
        if (around.record().isEmpty()) {
            if (mode == Mode.armed) {
                throw new UserError(
                        "--repair.mode=armed needs a file for its record, and --store.path=memory has none");
            }
            return Optional.empty();
        }
        Clock clock = Clock.systemUTC();
        RepairLog log;
        try {
            log = RepairLog.open(around.record().get(), clock);
        } catch (IOException e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "the record of repairs cannot be read, so nothing is repaired: "
                            + around.record().get() + ": " + e.getMessage()
                            + "; move the file away if its repairs need no memory");
            return Optional.empty();
        }
        RepairRules rules =
                new RepairRules(settle, attempts, mostPerDay, reboot.when != Reboot.never, Set.copyOf(hook.actions));
        GpuFileHolders holders = new GpuFileHolders(around.paths(), new ProcessOwners(around.paths()));
        Supplier<Reading<Set<Integer>>> users = () -> holders.ofNode(identities(around));
        Path bundles = around.record().get().resolveSibling("bundles");
        ResetRun reset =
                new ResetRun(resetAs, patience, around.resetSettings(), Optional.of(bundles), ProgramRunner.PROCESSES);
        RepairSteps.Server server = new RepairSteps.Server(
                reset,
                reboot.run(new EvidenceRun(
                        resetAs, around.bundleSettings(), bundles, EvidenceRun.LONGEST, ProgramRunner.PROCESSES)),
                around.checks(),
                new SystemUnits(units, ProgramRunner.PROCESSES),
                Optional.ofNullable(slurm).map(SlurmNode::new),
                slurmWait,
                hook.run(),
                Optional.of(users).filter(any -> reboot.when == Reboot.idle),
                RepairSteps::sleep);
        ServerRepairLoop loop = new ServerRepairLoop(
                new ServerRepairLoop.Setup(
                        mode == Mode.armed,
                        rules,
                        NodeFacts.bootId(around.paths().procfs()),
                        around.faults(),
                        () -> new FaultEvidence(
                                around.damping().get(), around.results().get()),
                        () -> ServerGpus.of(around.node().get(), around.known().get()),
                        around.load(),
                        around.incomplete()),
                server,
                new LeftPersistence(state.folder(), state.record(around.paths().procfs()), reset, clock),
                log,
                clock,
                System::nanoTime);
        return Optional.of(parts.add(new ServerRepair(loop, around.faults())));
    }

    private static List<GpuIdentity> identities(Surroundings around) {
        return around.node().get().gpus().stream().map(GpuSnapshot::identity).toList();
    }
}
