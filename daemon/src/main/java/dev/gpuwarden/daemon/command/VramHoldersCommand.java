package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.holders.GpuHolderLookup;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import java.time.Clock;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** Asks the kubelet once which pods were given which GPUs. */
@Command(
        name = "holders",
        mixinStandardHelpOptions = true,
        description = "Say which pods were given each GPU, whether or not they use it: the kubelet's answer.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:known of every GPU",
            "2:wrong usage or configuration",
            "3:the kubelet cannot be asked, or it gave a pod what cannot be told for a GPU"
        })
public final class VramHoldersCommand extends NodeCommand {

    VramHoldersCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        NodeSnapshot node = look(NodeSampler::snapshot);
        HoldersReport report = new HoldersReport(node, new GpuHolderLookup(paths, () -> node, Clock.systemUTC()).get());
        show(report.tree(), out -> HoldersTable.print(report, out));
        return report.complete() ? ExitCode.OK : ExitCode.UNDECIDED;
    }
}
