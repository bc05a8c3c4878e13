package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.holders.GpuHolderLookup;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import java.time.Clock;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** Queries the kubelet once for the pods that have each GPU. */
@Command(
        name = "holders",
        mixinStandardHelpOptions = true,
        description = "Show the pods to which the kubelet assigned each GPU, whether or not they use it.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:known for every GPU",
            "2:wrong usage or configuration",
            "3:the kubelet does not answer, or a pod has a device that matches no GPU"
        })
public final class VramHoldersCommand extends NodeCommand {

    VramHoldersCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        NodeSnapshot node = sample(NodeSampler::snapshot);
        HoldersReport report = new HoldersReport(node, new GpuHolderLookup(paths, () -> node, Clock.systemUTC()).get());
        show(report.tree(), out -> HoldersTable.print(report, out));
        return report.complete() ? ExitCode.OK : ExitCode.UNDECIDED;
    }
}
