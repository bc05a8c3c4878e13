package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.run.Logging;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.process.GpuMemory;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.node.NodeName;
import dev.gpuwarden.daemon.node.PciBus;
import dev.gpuwarden.daemon.process.NodeMemory;
import dev.gpuwarden.daemon.process.ProcessOwners;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.vram.trace.Trace;
import dev.gpuwarden.watchdog.budget.Tenancy;
import dev.gpuwarden.watchdog.budget.TermsSource;
import dev.gpuwarden.watchdog.observation.GpuBytes;
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

    private final List<TermsSource> terms;
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
    NodeName node = new NodeName();

    /** Time of the last memory reading by GPU. */
    private final Map<String, Long> written = new HashMap<>();

    private final Map<String, Long> listed = new HashMap<>();

    /** @param terms sources of budgets */
    VramRecordCommand(Supplier<DriverProvider> provider, List<TermsSource> terms, ShutdownSignal signal) {
        super(provider);
        this.terms = terms;
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
            NodeMemory memory = new NodeMemory(new ProcessOwners(paths));
            do {
                write(sampler.snapshot(), memory, trace);
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

    private void write(NodeSnapshot snapshot, NodeMemory memory, Trace.Writer trace) throws IOException {
        long now = System.nanoTime();
        List<GpuMemoryUse> uses = memory.attribute(snapshot);
        for (int i = 0; i < uses.size(); i++) {
            GpuSnapshot gpu = snapshot.gpus().get(i);
            long readAt = gpu.frame().sampledAtNanos(GpuMetric.MEMORY_FREE.cadence());
            if (readAt == 0 || written.getOrDefault(gpu.identity().selector(), 0L) == readAt) {
                continue;
            }
            written.put(gpu.identity().selector(), readAt);
            long listedAt = gpu.processesAgeNanos()
                    .asOptional()
                    .map(age -> listedAt(gpu.identity().selector(), now - age))
                    .orElse(readAt);
            // A list that is newer than the reading would be no basis for a decision.
            trace.write(new GpuObservation(
                    gpu.identity().selector(),
                    Math.max(readAt, listedAt),
                    readAt,
                    bytes(NodeMemory.memory(gpu.frame())),
                    Tenancy.tenants(uses.get(i), terms),
                    listedAt));
        }
    }

    /** Returns the time of a list. Its age is of the snapshot's time, which differs a little from the present. */
    private long listedAt(String gpu, long roughly) {
        long before = listed.getOrDefault(gpu, roughly);
        long same = Math.abs(roughly - before) < listEvery.toNanos() / 2 ? before : roughly;
        listed.put(gpu, same);
        return same;
    }

    private static Reading<GpuBytes> bytes(GpuMemory memory) {
        for (Reading<Long> needed : List.of(memory.total(), memory.used(), memory.free())) {
            if (needed instanceof Reading.Absent<Long> none) {
                return Reading.absent(none.cause(), none.code(), none.detail());
            }
        }
        return Reading.of(new GpuBytes(
                memory.total().asOptional().orElseThrow(),
                memory.reserved().asOptional().orElse(0L),
                memory.used().asOptional().orElseThrow(),
                memory.free().asOptional().orElseThrow()));
    }
}
