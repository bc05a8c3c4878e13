package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.command.VramReport.By;
import dev.gpuwarden.daemon.process.NodeMemory;
import dev.gpuwarden.daemon.process.ProcessOwners;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Looks once who holds the memory of each GPU. */
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        description = "Say who holds the memory of each GPU, the largest first.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:known of every GPU",
            "2:wrong usage or configuration",
            "3:no driver, or a GPU whose processes cannot be listed"
        })
public final class VramTopCommand extends NodeCommand {

    @Option(
            names = "--by",
            defaultValue = "pod",
            paramLabel = "WHAT",
            description = "What a row stands for: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})."
                    + " Who is in no pod or container stands for himself.")
    By by = By.pod;

    VramTopCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        NodeSnapshot node = look(NodeSampler::snapshot);
        VramReport report = new VramReport(by, node, new NodeMemory(new ProcessOwners(paths)).attribute(node));
        show(report.tree(), out -> VramTable.print(report, out));
        return report.complete() ? ExitCode.OK : ExitCode.UNDECIDED;
    }
}
