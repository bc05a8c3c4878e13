package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.run.Logging;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.vram.BudgetOptions;
import dev.gpuwarden.daemon.vram.trace.Trace;
import dev.gpuwarden.daemon.vram.watch.Observations;
import dev.gpuwarden.daemon.vram.watch.Observations.Observed;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.logging.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes a trace of this node. */
@Command(
        name = "record",
        description = {
            "Write a trace of this node's GPU memory and its tenants, for 'gpuwarden vram replay' and 'vram audit'.",
            "It opens a driver session of its own, and adds to the load of a daemon: at the default intervals four reads"
                    + " of each GPU and one list of processes a second. The driver holds a lock while it lists."
        },
        exitCodeList = {"0:recorded", "2:wrong usage, or the file exists or cannot be written", "3:no GPU was read"})
final class VramRecordCommand extends NodeCommand {

    private final ShutdownSignal signal;

    @Parameters(paramLabel = "FILE", description = "The trace. A file that exists is an error.")
    Path file = Path.of("");

    @Option(
            names = "--for",
            defaultValue = "10m",
            paramLabel = "DURATION",
            description = "Time to record; SIGINT and SIGTERM end it earlier (default: ${DEFAULT-VALUE}).")
    Duration time = Duration.ofMinutes(10);

    @Option(
            names = "--every",
            defaultValue = "250ms",
            paramLabel = "DURATION",
            description = "Interval of reading memory (default: ${DEFAULT-VALUE}).")
    Duration every = Duration.ofMillis(250);

    @Option(
            names = "--list-every",
            defaultValue = "1s",
            paramLabel = "DURATION",
            description = "Interval of listing processes (default: ${DEFAULT-VALUE}).")
    Duration listEvery = Duration.ofSeconds(1);

    @Mixin
    BudgetOptions budgets = new BudgetOptions();

    @Mixin
    NodeName node = new NodeName();

    /** Number of the last observation by GPU. */
    private final Map<String, Long> written = new HashMap<>();

    VramRecordCommand(Supplier<DriverProvider> provider, ShutdownSignal signal) {
        super(provider);
        this.signal = signal;
    }

    @Override
    public Integer call() throws InterruptedException {
        Logging.install(Level.SEVERE);
        NodeSampler sampler =
                new NodeSampler(provider().get(), sampling.withIntervals(every, listEvery), new PciBus(paths));
        try (ShutdownSignal.Registration stop = signal.register();
                sampler;
                OutputStream out = new BufferedOutputStream(
                        Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
            sampler.start();
            sampler.awaitFirst(sampling.openDeadline());
            Trace.Writer trace = new Trace.Writer(out, new Trace.Header(node.get(), Instant.now(), System.nanoTime()));
            long end = System.nanoTime() + time.toNanos();
            Observations observations =
                    new Observations(sampler, new NodeMemory(new ProcessOwners(paths)), budgets.sources(paths));
            do {
                write(observations.read(), trace);
                out.flush();
            } while (System.nanoTime() < end && !stop.await(every));
        } catch (FileAlreadyExistsException e) {
            throw new UserError(file + " already exists");
        } catch (IOException e) {
            throw new UserError(file + ": " + FileErrors.why(e));
        }
        if (written.isEmpty()) {
            delete();
            note("no GPU was read; 'gpuwarden scan' shows the cause");
            return ExitCode.UNDECIDED;
        }
        return ExitCode.OK;
    }

    /** Removes a trace without an observation, so that the command can be tried again. */
    private void delete() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UserError(file + ": " + FileErrors.why(e));
        }
    }

    private void write(List<Observed> seen, Trace.Writer trace) throws IOException {
        for (Observed one : seen) {
            GpuObservation observation = one.observation();
            Long before = written.put(observation.gpu(), observation.sequence());
            if (before == null || before != observation.sequence()) {
                trace.write(observation);
            }
        }
    }
}
