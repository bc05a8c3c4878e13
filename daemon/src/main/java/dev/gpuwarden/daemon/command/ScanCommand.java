package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.node.NodePaths;
import dev.gpuwarden.daemon.node.PciBus;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.telemetry.SamplingSettings;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.logging.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Looks at every GPU once and says whether the node is fit. */
@Command(
        name = "scan",
        mixinStandardHelpOptions = true,
        description = "Look at every GPU of this node and say whether it is fit to work.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:fit", "1:not fit", "2:wrong usage or configuration", "3:could not decide"})
public final class ScanCommand implements Callable<Integer> {

    private final Supplier<DriverProvider> provider;

    @Mixin
    Output output = new Output();

    @Mixin
    SamplingSettings sampling = new SamplingSettings();

    @Mixin
    NodePaths paths = new NodePaths();

    @Spec
    CommandSpec spec = CommandSpec.create();

    public ScanCommand(Supplier<DriverProvider> provider) {
        this.provider = provider;
    }

    @Override
    public Integer call() {
        // What is found is printed; the log would say it twice.
        Logging.install(Level.SEVERE);
        NodeSnapshot node = NodeSampler.once(provider.get(), sampling, new PciBus(paths), NodeSampler::snapshot);
        ScanReport report = ScanReport.of(node);
        output.write(spec.commandLine().getOut(), report.tree(), out -> ScanTable.print(report, out));
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
