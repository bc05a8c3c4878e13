package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.port.DriverProvider;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs every check once on the node and reports whether the node is fit. */
@Command(
        name = "scan",
        mixinStandardHelpOptions = true,
        description = "Run every check on this node once, and report whether it is fit to work.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:fit", "1:not fit", "2:wrong usage or configuration", "3:could not decide"})
public final class ScanCommand extends CheckingCommand {

    @Option(
            names = "--deadline",
            paramLabel = "TIME",
            description = "End within this time, for a job scheduler's prolog: what has not answered by then is UNKNOWN"
                    + " (exit code 3, unless a fault was found). Default: as long as the deadlines of GPUs and checks.")
    @Nullable Duration deadline;

    public ScanCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        if (deadline != null && deadline.compareTo(SHORTEST_DEADLINE) < 0) {
            throw new UserError("--deadline must be at least " + Durations.text(SHORTEST_DEADLINE) + ", but was "
                    + Durations.text(deadline));
        }
        Run run = runChecks(checks.plan(checks.all(node.get())), Optional.ofNullable(deadline));
        ScanReport report = ScanReport.of(run.node(), run.results());
        show(report.tree(), report::print);
        return exitCode(report.verdict());
    }

    static int exitCode(Verdict verdict) {
        return switch (verdict) {
            case FIT -> ExitCode.OK;
            case NOT_FIT -> ExitCode.NOT_FIT;
            case UNDECIDED -> ExitCode.UNDECIDED;
        };
    }
}
