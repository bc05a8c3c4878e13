package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** Looks at every GPU once and says whether the node is fit. */
@Command(
        name = "scan",
        mixinStandardHelpOptions = true,
        description = "Look at every GPU of this node and say whether it is fit to work.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:fit", "1:not fit", "2:wrong usage or configuration", "3:could not decide"})
public final class ScanCommand extends NodeCommand {

    public ScanCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        NodeSnapshot node = look(NodeSampler::snapshot);
        ScanReport report = ScanReport.of(node);
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
