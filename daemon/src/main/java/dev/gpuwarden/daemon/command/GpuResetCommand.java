package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.process.ProcessOwners;
import dev.gpuwarden.daemon.reset.DriverRoot;
import dev.gpuwarden.daemon.reset.GpuReset;
import dev.gpuwarden.daemon.reset.NvidiaSmi;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
                    + " Persistence mode is turned off, and restored at the end, also after a failure.",
            "GPUs with direct NVLink connections can only be reset together: name all of them.",
            "The kernel log gets the result, by which a fault that a reset repairs ends. Needs root.",
            "  gpuwarden gpu-reset 3 --arm"
        },
        exitCodeList = {
            "0:reset and healthy; without --arm: the steps are shown",
            "1:not reset, or not healthy afterwards",
            "2:wrong usage or configuration, or no such GPU; nothing was done"
        })
public final class GpuResetCommand extends CheckingCommand {

    private static final String KERNEL_LOG = "kernel-log";
    private static final Duration LONGEST = Duration.ofHours(1);

    @Parameters(arity = "1..64", paramLabel = "GPU", description = "Index, UUID or PCI address; one or more.")
    List<String> names = List.of();

    @Option(names = "--arm", description = "Reset the GPUs. Without this option nothing is changed.")
    boolean arm;

    @Option(
            names = "--patience",
            defaultValue = "30s",
            paramLabel = "DURATION",
            description = "Longest wait for processes that hold the GPUs, up to 1h (default: ${DEFAULT-VALUE}).")
    Duration patience = Duration.ofSeconds(30);

    @Option(
            names = "--reset.timeout",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description =
                    "Longest run of the reset itself, up to 1h; nvidia-smi is ended then (default: ${DEFAULT-VALUE}).")
    Duration longest = Duration.ofMinutes(5);

    @Option(
            names = "--reset.nvidia-smi",
            paramLabel = "PATH",
            description =
                    "The program nvidia-smi (default: that of the driver, below /host where the host is mounted there).")
    @Nullable Path program;

    @Option(
            names = "--reset.kernel-log",
            defaultValue = "/dev/kmsg",
            paramLabel = "PATH",
            description = "Takes the line with the result (default: ${DEFAULT-VALUE}).")
    Path acknowledgements = Path.of("/dev/kmsg");

    @Mixin
    ClientOptions client = new ClientOptions();

    public GpuResetCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() throws InterruptedException {
        bounded("--patience", patience, Duration.ZERO);
        bounded("--reset.timeout", longest, Duration.ofSeconds(1));
        DriverRoot driver = driver();
        sampling.searchIn(driver.libraryFolders());
        Optional<Path> socket = client.socket();
        ResetTargets targets = ResetTargets.of(sample(NodeSampler::snapshot), names);
        ResetNode node = new ResetNode(
                socket, targets.files(paths.devices()), new ProcessOwners(paths), acknowledgements, this::defects);
        NvidiaSmi smi = new NvidiaSmi(driver, longest);
        if (!arm) {
            ResetReport plan = ResetReport.plan(targets, smi.resetText(targets.uuids()), node.holders());
            show(plan.tree(), plan::print);
            return ExitCode.OK;
        }
        GpuReset.Outcome outcome = reset(new Parts(node, smi), targets);
        ResetReport report = ResetReport.of(targets, outcome);
        show(report.tree(), report::print);
        note(report.text());
        return outcome.success() ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    private record Parts(ResetNode node, NvidiaSmi smi) {}

    private GpuReset.Outcome reset(Parts parts, ResetTargets targets) throws InterruptedException {
        List<InterruptedException> interrupted = new ArrayList<>();
        Optional<GpuReset.Outcome> outcome = progress().during(line -> {
            try {
                return Optional.of(new GpuReset(parts.node(), parts.smi(), patience, line).run(targets.uuids()));
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
        if (program != null) {
            return DriverRoot.of(program);
        }
        return DriverRoot.find()
                .orElseThrow(() -> new UserError("nvidia-smi is at no usual place of the driver; name it with"
                        + " --reset.nvidia-smi, or install the driver's programs"));
    }

    private static void bounded(String option, Duration value, Duration least) {
        if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0) {
            throw new UserError(
                    option + ": expected " + Durations.text(least) + " to 1h, seen " + Durations.text(value));
        }
    }

    /** Runs the passive checks. The kernel log is left out: it still has the fault that the reset repairs. */
    private List<String> defects(List<String> uuids) {
        Run run = runChecks(checks.plan(checks.all(node.get()), GpuLoad.NONE).only(id -> !id.equals(KERNEL_LOG)));
        List<String> defects = new ArrayList<>();
        for (String uuid : uuids) {
            Optional<GpuSnapshot> gpu = run.node().gpus().stream()
                    .filter(seen -> seen.identity()
                            .uuid()
                            .asOptional()
                            .filter(uuid::equalsIgnoreCase)
                            .isPresent())
                    .findFirst();
            if (gpu.isEmpty()) {
                defects.add("GPU " + uuid + " is not listed by the driver");
            } else if (gpu.get().state() != GpuState.ANSWERING) {
                defects.add(gpu.get().identity().label() + " is "
                        + gpu.get().state().label() + " " + gpu.get().detail());
            } else {
                defects.addAll(failures(run, gpu.get().identity()));
            }
        }
        return defects;
    }

    private static List<String> failures(Run run, GpuIdentity gpu) {
        return run.results().stream()
                .map(CheckResult::findings)
                .flatMap(List::stream)
                .filter(finding -> finding.outcome() == Outcome.FAIL)
                .filter(finding -> finding.subject().label().equals(gpu.label()))
                .map(Finding::message)
                .toList();
    }
}
