package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.command.VramReport.By;
import dev.gpuwarden.daemon.node.NodePaths;
import dev.gpuwarden.daemon.node.PciBus;
import dev.gpuwarden.daemon.process.NodeMemory;
import dev.gpuwarden.daemon.process.ProcessOwners;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.telemetry.SamplingSettings;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.logging.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
public final class VramTopCommand implements Callable<Integer> {

    private final Supplier<DriverProvider> provider;

    @Mixin
    Output output = new Output();

    @Mixin
    SamplingSettings sampling = new SamplingSettings();

    @Mixin
    NodePaths paths = new NodePaths();

    @Option(
            names = "--by",
            defaultValue = "pod",
            paramLabel = "WHAT",
            description = "What a row stands for: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})."
                    + " Who is in no pod or container stands for himself.")
    By by = By.pod;

    @Spec
    CommandSpec spec = CommandSpec.create();

    VramTopCommand(Supplier<DriverProvider> provider) {
        this.provider = provider;
    }

    @Override
    public Integer call() {
        Logging.install(Level.SEVERE);
        NodeSnapshot node = NodeSampler.once(provider.get(), sampling, new PciBus(paths), NodeSampler::snapshot);
        VramReport report = new VramReport(by, node, new NodeMemory(new ProcessOwners(paths)).attribute(node));
        output.write(spec.commandLine().getOut(), report.tree(), out -> VramTable.print(report, out));
        return report.complete() ? ExitCode.OK : ExitCode.UNDECIDED;
    }
}
