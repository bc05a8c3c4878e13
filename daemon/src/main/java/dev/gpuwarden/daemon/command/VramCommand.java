package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.command.VramReport.By;
import dev.gpuwarden.daemon.holders.GpuHolderLookup;
import dev.gpuwarden.daemon.process.NodeMemory;
import dev.gpuwarden.daemon.process.ProcessOwners;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import java.time.Clock;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Groups the commands about GPU memory and its holders. */
@Command(
        name = "vram",
        mixinStandardHelpOptions = true,
        description = "GPU memory by holder, and the pods that have the GPUs.",
        synopsisSubcommandLabel = "COMMAND")
public final class VramCommand {

    private VramCommand() {}

    /** Returns the command with its subcommands. */
    public static CommandLine with(Supplier<DriverProvider> provider) {
        return new CommandLine(new VramCommand())
                .addSubcommand(new Top(provider))
                .addSubcommand(new Holders(provider));
    }

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
    public static final class Holders extends NodeCommand {

        Holders(Supplier<DriverProvider> provider) {
            super(provider);
        }

        @Override
        public Integer call() {
            NodeSnapshot node = sample(NodeSampler::snapshot);
            HoldersReport report = new HoldersReport(node, new GpuHolderLookup(paths, () -> node, Clock.systemUTC()).get());
            show(report.tree(), report::print);
            return report.complete() ? ExitCode.OK : ExitCode.UNDECIDED;
        }
    }

    /** Reads once which processes hold the memory of each GPU. */
    @Command(
            name = "top",
            mixinStandardHelpOptions = true,
            description = "Show the holders of each GPU's memory, the largest first.",
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {
                "0:known for every GPU",
                "2:wrong usage or configuration",
                "3:no driver, or a GPU whose processes cannot be listed"
            })
    public static final class Top extends NodeCommand {

        @Option(
                names = "--by",
                defaultValue = "pod",
                paramLabel = "WHAT",
                description = "Kind of holder in a row: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})."
                        + " Processes outside a pod or container are listed individually.")
        By by = By.pod;

        Top(Supplier<DriverProvider> provider) {
            super(provider);
        }

        @Override
        public Integer call() {
            NodeSnapshot node = sample(NodeSampler::snapshot);
            VramReport report = new VramReport(by, node, new NodeMemory(new ProcessOwners(paths)).attribute(node));
            show(report.tree(), report::print);
            return report.complete() ? ExitCode.OK : ExitCode.UNDECIDED;
        }
    }
}
