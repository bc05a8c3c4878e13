package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.checks.telemetry.SingleReading;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.run.Logging;
import dev.gpuwarden.core.port.DriverProvider;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that reads this node once and prints the result. */
@Command(mixinStandardHelpOptions = true, exitCodeListHeading = "%nExit codes:%n")
abstract class NodeCommand implements Callable<Integer> {

    private final Supplier<DriverProvider> provider;

    @Mixin
    Output output = new Output();

    @Mixin
    SamplingSettings sampling = new SamplingSettings();

    @Mixin
    NodePaths paths = new NodePaths();

    @Spec
    CommandSpec spec = CommandSpec.create();

    private @Nullable ProgressLine progress;

    NodeCommand(Supplier<DriverProvider> provider) {
        this.provider = provider;
    }

    Supplier<DriverProvider> provider() {
        return provider;
    }

    /** Samples every GPU, then evaluates the sampler. */
    <T> T sample(Function<NodeSampler, T> question) {
        return sample(SingleReading.NO_LIMIT, question);
    }

    /** @param most bound on the wait for GPUs; what has not answered by then is still starting */
    <T> T sample(Duration most, Function<NodeSampler, T> question) {
        // The result is printed; the log would repeat it.
        Logging.install(Level.SEVERE);
        return progress()
                .during(line -> SingleReading.once(
                        provider.get(),
                        sampling,
                        new PciBus(paths),
                        most,
                        (what, waited) -> line.accept("waiting for " + what + " since "
                                + Durations.text(waited.truncatedTo(ChronoUnit.SECONDS))),
                        question));
    }

    /** Returns the line on standard error for the state of a long run. It counts the time from the first call. */
    synchronized ProgressLine progress() {
        ProgressLine present = progress;
        if (present == null) {
            present = new ProgressLine(spec.commandLine().getErr());
            progress = present;
        }
        return present;
    }

    /** Prints a line for the user that is no part of the result. */
    void note(String text) {
        progress().clear();
        PrintWriter err = spec.commandLine().getErr();
        err.println("gpuwarden: " + Table.escape(text));
        err.flush();
    }

    void show(Object tree, Consumer<PrintWriter> table) {
        output.write(spec.commandLine().getOut(), tree, table);
    }
}
