package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.Sources;
import dev.gpuwarden.checks.access.LimitedAccess;
import dev.gpuwarden.checks.settings.LibrarySettings;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.verify.RepairChecks;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.kernlog.KernelLogTail;
import dev.gpuwarden.daemon.reset.DriverRoot;
import dev.gpuwarden.daemon.reset.GpuReset;
import dev.gpuwarden.daemon.reset.NvidiaSmi;
import dev.gpuwarden.daemon.reset.ResetEvidence;
import dev.gpuwarden.daemon.reset.ResetState;
import dev.gpuwarden.daemon.reset.ResettableNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Resets GPUs of this node. */
@Command(
        name = "gpu-reset",
        description = {
            "Reset GPUs of this node with nvidia-smi, and check them afterwards. Without --arm it only shows the steps and the"
                    + " processes that hold the GPUs.",
            "The daemon lets go of the GPUs first. Any other process that holds one open makes the reset fail, with its name."
                    + " Persistence mode is turned off, and restored at the end, also after a failure. A reset that was"
                    + " killed leaves it off; the next one restores it, and so does --restore.",
            "Before Ampere, GPUs that NVLinks or NVSwitches connect can only be reset together: name all of them.",
            "The kernel log gets the result, by which a fault that a reset repairs ends. Needs root.",
            "  gpuwarden gpu-reset 3 --arm",
            "  gpuwarden gpu-reset --restore --arm"
        },
        exitCodeList = {
            "0:reset and healthy, or restored; without --arm: the steps are shown",
            "1:not reset, not healthy afterwards, or not restored",
            "2:wrong usage or configuration, or no such GPU; nothing was done"
        })
public final class GpuResetCommand extends CheckingCommand {

    /** The kernel log still has the fault that the reset repairs, and the reset itself has turned persistence mode off. */
    private static final Set<String> NOT_VERIFIED = Set.of("kernel-log", "gpu-persistence-mode");

    private static final GpuAccess.Refusal OTHERS =
            new GpuAccess.Refusal("not-reset", "the GPU was not reset, so it gets no work");

    @Parameters(arity = "0..64", paramLabel = "GPU", description = "Index, UUID or PCI address; one or more.")
    List<String> names = List.of();

    @Option(names = "--arm", description = "Reset the GPUs. Without this option nothing is changed.")
    boolean arm;

    @Option(
            names = "--restore",
            description = "Reset no GPU, and turn persistence mode on where a reset that was killed has left it off.")
    boolean restore;

    @Bounds(from = "0s", to = "1h")
    @Option(
            names = {"--patience", "--reset.patience"},
            defaultValue = "30s",
            paramLabel = "DURATION",
            description = "Longest wait for processes that hold the GPUs (default: ${DEFAULT-VALUE}).")
    Duration patience = Duration.ofSeconds(30);

    @Bounds(from = "1s", to = "1h")
    @Option(
            names = "--reset.timeout",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description = "Longest run of the reset itself; nvidia-smi is ended then (default: ${DEFAULT-VALUE}).")
    Duration longest = Duration.ofMinutes(5);

    @Option(
            names = "--reset.kernel-log",
            defaultValue = "/dev/kmsg",
            paramLabel = "PATH",
            description = "Takes the line with the result (default: ${DEFAULT-VALUE}).")
    Path acknowledgements = Path.of("/dev/kmsg");

    @Option(
            names = "--verify",
            defaultValue = "invasive",
            paramLabel = "CHECKS",
            description =
                    "Checks of the GPUs after the reset: passive, or invasive (those and the ones that give work to"
                            + " these GPUs alone, up to some minutes) (default: ${DEFAULT-VALUE}).")
    RepairChecks verify = RepairChecks.invasive;

    @Option(
            names = "--reset.bundle",
            paramLabel = "FOLDER",
            description = "Folder that keeps an archive with evidence for the vendor after a reset that failed: the"
                    + " report, the kernel log about GPUs, nvidia-smi -q, nvidia-bug-report.sh. The last 8 stay"
                    + " (default: none is kept).")
    @Nullable Path bundle;

    @Mixin
    EvidenceOptions tools = new EvidenceOptions();

    @Mixin
    ResetState state = new ResetState();

    @Mixin
    GateOptions gate = new GateOptions();

    @Mixin
    ClientOptions client = new ClientOptions();

    @Mixin
    LibrarySettings libraries = new LibrarySettings();

    private List<String> resetting = List.of();

    public GpuResetCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() throws InterruptedException {
        if (gate.given()) {
            var unused = gate.gate();
        }
        if (names.isEmpty() != restore) {
            throw new UserError(
                    restore
                            ? "--restore resets no GPU; leave out " + String.join(", ", names)
                            : "expected at least one GPU, or --restore, seen neither; name one, as in gpu-reset 3");
        }
        DriverRoot driver = driver();
        sampling.searchIn(driver.libraryFolders());
        Optional<Path> socket = client.socket();
        NodeSnapshot seen = sample(NodeSampler::snapshot);
        ResetTargets targets = restore ? new ResetTargets(List.of()) : ResetTargets.of(seen, names);
        resetting = targets.uuids();
        ResetNode node = new ResetNode(
                socket,
                seen,
                targets.addresses(),
                targets.files(paths.devices()),
                paths,
                acknowledgements,
                gpus -> verify(seen, gpus),
                gate);
        NvidiaSmi smi = new NvidiaSmi(driver, longest);
        if (!arm) {
            ResetReport plan = restore
                    ? ResetReport.restorePlan(left())
                    : ResetReport.plan(targets, smi.resetText(targets.uuids()), node.before(), left())
                            .expecting(node.kernelClients());
            show(plan.tree(), plan::print);
            return ExitCode.OK;
        }
        try (UndoOnSignal undo = UndoOnSignal.ofThisThread()) {
            GpuReset.Outcome outcome;
            try {
                outcome = reset(new Parts(node, smi), targets);
            } catch (InterruptedException e) {
                if (!undo.isStopped()) {
                    throw e;
                }
                note("stopped by a signal before the reset: nothing was reset, and persistence mode is as before");
                return ExitCode.NOT_FIT;
            }
            ResetReport report = ResetReport.of(targets, outcome);
            if (!undo.isStopped()) {
                report = evidence(report, outcome, driver);
            }
            show(report.tree(), report::print);
            note(report.text());
            Optional<String> withheld = withheld(outcome, report);
            if (withheld.isPresent()) {
                note(MaintenanceGateCommand.WITHHELD + withheld.get());
                return ExitCode.WITHHELD;
            }
            return outcome.success() ? ExitCode.OK : ExitCode.NOT_FIT;
        }
    }

    /**
     * Returns why nothing was tried, for the janitor, which then takes no stronger action; empty if the GPU was judged. Without a
     * janitor only its gate counts.
     */
    private Optional<String> withheld(GpuReset.Outcome outcome, ResetReport report) {
        boolean ofJob = gate.given();
        return outcome.failure()
                .filter(step -> step.name().equals(GpuReset.GATE) || ofJob && outcome.isBefore())
                .map(step -> step.name().equals(GpuReset.GATE) ? step.detail() : report.text());
    }

    /** Returns what a reset that was killed has left off, for a dry run. */
    private Reading<Set<String>> left() {
        try {
            return Reading.of(state.record(paths.procfs()).read());
        } catch (IOException e) {
            return Reading.absent(Absence.FAILED, 0, String.valueOf(e.getMessage()));
        }
    }

    /** Keeps the evidence of a failure. The result comes first: the process may be ended while it collects. */
    private ResetReport evidence(ResetReport report, GpuReset.Outcome outcome, DriverRoot driver)
            throws InterruptedException {
        if (bundle == null || !outcome.isEvidence()) {
            return report;
        }
        note(report.text());
        return report.with(new ResetEvidence(bundle, Optional.of(driver), tools.longest)
                .keep(
                        Optional.empty(),
                        report.targets().uuids(),
                        Optional.of(Output.json(report.tree())),
                        () -> KernelLogTail.read(kernelLog, paths, ResetEvidence::concerns, ResetEvidence.MOST_LINES),
                        Instant.now()));
    }

    private record Parts(ResetNode node, NvidiaSmi smi) {}

    private GpuReset.Outcome reset(Parts parts, ResetTargets targets) throws InterruptedException {
        List<InterruptedException> interrupted = new ArrayList<>();
        Optional<GpuReset.Outcome> outcome = progress().during(line -> {
            try {
                GpuReset reset = new GpuReset(parts.node(), parts.smi(), state.record(paths.procfs()), patience, line);
                return Optional.of(restore ? reset.restore() : reset.run(targets.uuids()));
            } catch (InterruptedException e) {
                interrupted.add(e);
                return Optional.empty();
            }
        });
        for (InterruptedException e : interrupted) {
            throw e;
        }
        return outcome.orElseThrow();
    }

    private DriverRoot driver() {
        DriverRoot driver = tools.program != null ? DriverRoot.of(tools.program) : found();
        driver.problem().ifPresent(why -> {
            throw new UserError(why + "; nvidia-smi does not run, so nothing is reset");
        });
        return driver;
    }

    private static DriverRoot found() {
        return DriverRoot.find()
                .orElseThrow(() -> new UserError("nvidia-smi is at no usual place of the driver; name it with"
                        + " --reset.nvidia-smi, or install the driver's programs"));
    }

    /** Runs the checks, which the specification puts before persistence mode is turned on again. */
    private ResettableNode.Verified verify(NodeSnapshot before, List<String> uuids) {
        // By their numbers, since a clock may be set in between.
        Map<FaultKey, Long> earlier = new HashMap<>();
        faultsSinceBoot(before).forEach(fault -> earlier.put(fault.key(), fault.occurrences()));
        Run run = runChecks(checks.plan(checks.all(node.get()), verify.most()).only(id -> !NOT_VERIFIED.contains(id)));
        List<Fault> faults = faultsSinceBoot(run.node()).stream()
                .filter(fault -> fault.occurrences() > earlier.getOrDefault(fault.key(), 0L))
                .toList();
        return ResetVerification.of(before.gpus(), run.node().gpus(), run.results(), faults, uuids);
    }

    @Override
    Sources work(Sources usual) {
        return workOf(usual, libraries);
    }

    /** Other GPUs may have tenants. */
    @Override
    GpuAccess access(GpuAccess usual) {
        Set<String> own = Set.copyOf(resetting);
        return new LimitedAccess(usual, gpu -> own.contains(gpu.identity().selector()), OTHERS);
    }
}
