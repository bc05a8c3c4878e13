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
public final class VramTopCommand extends NodeCommand {

    @Option(
            names = "--by",
            defaultValue = "pod",
            paramLabel = "WHAT",
            description = "Kind of holder in a row: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})."
                    + " Processes outside a pod or container are listed individually.")
    By by = By.pod;

    VramTopCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        NodeSnapshot node = sample(NodeSampler::snapshot);
        VramReport report = new VramReport(by, node, new NodeMemory(new ProcessOwners(paths)).attribute(node));
        show(report.tree(), out -> VramTable.print(report, out));
        return report.complete() ? ExitCode.OK : ExitCode.UNDECIDED;
    }
}
