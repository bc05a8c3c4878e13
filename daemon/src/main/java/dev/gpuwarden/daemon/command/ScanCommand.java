package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.port.DriverProvider;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** Has every check look at the node once and says whether the node is fit. */
@Command(
        name = "scan",
        mixinStandardHelpOptions = true,
        description = "Look at this node once, with every check, and say whether it is fit to work.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:fit", "1:not fit", "2:wrong usage or configuration", "3:could not decide"})
public final class ScanCommand extends CheckingCommand {

    public ScanCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        Looked looked = look(checks.plan(checks.all(node.get())));
        ScanReport report = ScanReport.of(looked.node(), looked.results());
        show(report.tree(), out -> ScanTable.print(report, out));
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
