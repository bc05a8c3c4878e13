package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ByteSizes;
import dev.gpuwarden.cli.ConsoleWriter;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.HeldMemory;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.sim.NodeControl;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** A program that holds memory of a simulated GPU, as any program with CUDA does. */
@Command(
        name = "use",
        mixinStandardHelpOptions = true,
        description = {
            "Hold memory of a simulated GPU through the simulated CUDA, until interrupted or until COMMAND ends.",
            "NVML shows it immediately, with this process and its context's own memory (`cuda.context-memory`).",
            "It is free again when this process ends, however it ends. On a full GPU it fails as CUDA does.",
            "  gpuwarden sim use --gpu 0 --mib 3000",
            "  gpuwarden sim use --gpu 0 --mib 1000 --grow 100MiB/s --for 1m",
            "  gpuwarden sim use --gpu 0 --mib 3000 -- gpuwarden vram top"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "N:that of COMMAND; 128 + signal if one killed it",
            "0:ended by --for",
            "1:the GPU did not give the memory; COMMAND, if it runs, is ended",
            "2:wrong usage, or no such GPU, node or program",
            "130:interrupted"
        })
final class SimUseCommand implements Callable<Integer> {

    private static final long MEBIBYTE = 1L << 20;
    /** The simulated CUDA counts memory in such blocks, so smaller steps would take more than they request. */
    private static final long BLOCK = 2 * MEBIBYTE;

    private static final int STEPS_PER_SECOND = 10;

    @Mixin
    SimCommand.NodeOption which = new SimCommand.NodeOption();

    @Option(names = "--gpu", paramLabel = "N", required = true, description = "The GPU, by its index in NVML.")
    int gpu;

    @Option(names = "--mib", paramLabel = "N", required = true, description = "Memory at the start, in MiB.")
    int mebibytes;

    @Option(
            names = "--grow",
            paramLabel = "SIZE/s",
            converter = PerSecond.class,
            description = "Take more memory all the time, for example 100MiB/s, until the GPU is full.")
    @Nullable Long bytesPerSecond;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "The name of this process, as ps and nvidia-smi show it; at most 15 characters.")
    @Nullable String name;

    @Option(names = "--for", paramLabel = "DURATION", description = "End after this time, for example 30s.")
    @Nullable Duration limit;

    @Parameters(
            arity = "0..*",
            paramLabel = "COMMAND",
            description = "A program and its arguments, after --. It uses the same node.")
    List<String> command = List.of();

    @Mixin
    Output output = new Output();

    @Spec
    CommandSpec spec = CommandSpec.create();

    private @Nullable Process program;

    /** A converter of `100MiB/s`. */
    static final class PerSecond implements ITypeConverter<Long> {

        @Override
        public Long convert(String text) {
            if (!text.endsWith("/s")) {
                throw new TypeConversionException("'" + text + "' is not a rate such as 100MiB/s");
            }
            long bytes = ByteSizes.parse(text.substring(0, text.length() - "/s".length()));
            if (bytes == 0) {
                throw new TypeConversionException("'" + text + "' is no growth");
            }
            return bytes;
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        if (mebibytes < 1) {
            throw new UserError("--mib " + mebibytes + ": expected 1 or more");
        }
        rename();
        Path root = which.root();
        NodeControl node = NodeControl.open(root);
        if (gpu < 0 || gpu >= node.gpuCount()) {
            throw new UserError("--gpu " + gpu + ": expected 0 to " + (node.gpuCount() - 1) + " on " + root);
        }
        String uuid = node.gpus().get(gpu).uuid();
        Opening<ComputeDriver> opening =
                provider().open(new DriverOptions(List.of(root.resolve("lib").toString()), SamplerPath.AUTO));
        if (opening instanceof Unavailable<ComputeDriver> none) {
            return fail("CUDA does not start: " + none.detail());
        }
        ComputeDriver driver = ((Opened<ComputeDriver>) opening).driver();
        Reading<HeldMemory> held = driver.hold(uuid, mebibytes * MEBIBYTE);
        if (held instanceof Reading.Absent<HeldMemory> absent) {
            String visible = System.getenv("CUDA_VISIBLE_DEVICES");
            return fail(mebibytes + " MiB were not taken: " + absent.text()
                    + (visible == null ? "" : "; CUDA_VISIBLE_DEVICES is \"" + visible + "\""));
        }
        try (HeldMemory memory = held.asOptional().orElseThrow()) {
            return hold(memory, node, uuid);
        }
    }

    private void rename() {
        if (name == null) {
            return;
        }
        if (!name.matches("[\\x21-\\x7e]{1,15}")) {
            throw new UserError(
                    "--name: expected 1 to 15 printable characters without a space, but was '" + name + "'");
        }
        try {
            Files.writeString(Path.of("/proc/self/comm"), name);
        } catch (IOException e) {
            throw new UserError("--name " + name + ": /proc/self/comm cannot be written: " + e.getMessage());
        }
    }

    private static ComputeProvider provider() {
        return ServiceLoader.load(ComputeProvider.class)
                .findFirst()
                .orElseThrow(() -> new UserError("expected the CUDA binding beside this command, found none"));
    }

    private int hold(HeldMemory memory, NodeControl node, String uuid) throws InterruptedException {
        print(uuid);
        CountDownLatch done = new CountDownLatch(1);
        Thread onSignal = new Thread(this::endProgram);
        Runtime.getRuntime().addShutdownHook(onSignal);
        try {
            Process running = command.isEmpty() ? null : start(node, done);
            int code = growUntil(done, memory);
            if (running == null || code != ExitCode.OK) {
                endProgram();
                return code;
            }
            if (done.getCount() > 0) {
                endProgram();
                return ExitCode.OK;
            }
            return running.waitFor();
        } finally {
            DemoCommand.forget(onSignal);
        }
    }

    /** Writes what is held: to standard output, which belongs to COMMAND if there is one. */
    private void print(String uuid) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("gpu", gpu);
        tree.put("uuid", uuid);
        tree.put("pid", ProcessHandle.current().pid());
        tree.put("bytes", mebibytes * MEBIBYTE);
        PrintWriter out = command.isEmpty()
                ? spec.commandLine().getOut()
                : spec.commandLine().getErr();
        output.write(
                out,
                tree,
                to -> to.println("process " + tree.get("pid") + " holds " + mebibytes + " MiB of GPU " + gpu + " ("
                        + uuid + ")"));
    }

    private synchronized Process start(NodeControl node, CountDownLatch done) {
        Process started = SimExecCommand.start(command, node.environment());
        program = started;
        var unused = started.onExit().thenRun(done::countDown);
        return started;
    }

    private synchronized void endProgram() {
        if (program != null) {
            Execution.end(program, SimExecCommand.GRACE_SECONDS);
        }
    }

    /** Holds the memory until COMMAND or the time is over, and takes more of it until then. */
    private int growUntil(CountDownLatch done, HeldMemory memory) throws InterruptedException {
        long began = System.nanoTime();
        long held = mebibytes * MEBIBYTE;
        long rate = bytesPerSecond == null ? 0 : bytesPerSecond;
        long step = Math.max(BLOCK, rate / STEPS_PER_SECOND / BLOCK * BLOCK);
        for (long steps = 1; ; steps++) {
            long next = rate == 0 ? Long.MAX_VALUE : (long) (1e9 * steps * step / rate);
            long end = limit == null ? Long.MAX_VALUE : limit.toNanos();
            long left = Math.min(next, end) - (System.nanoTime() - began);
            if (done.await(left, TimeUnit.NANOSECONDS) || end <= next) {
                progress("");
                return ExitCode.OK;
            }
            Reading<Long> more = memory.grow(step);
            if (more instanceof Reading.Absent<Long> absent) {
                progress("");
                return fail("no more than " + held / MEBIBYTE + " MiB: " + absent.text());
            }
            held = more.asOptional().orElseThrow();
            progress("… " + held / MEBIBYTE + " MiB of GPU " + gpu);
        }
    }

    /** Replaces the progress line of a terminal. */
    private void progress(String text) {
        PrintWriter err = spec.commandLine().getErr();
        if (ConsoleWriter.terminal(err)) {
            err.print("\r\u001b[K" + text);
            err.flush();
        }
    }

    private int fail(String what) {
        spec.commandLine().getErr().println("gpuwarden: GPU " + gpu + ": " + what);
        spec.commandLine().getErr().flush();
        return ExitCode.NOT_FIT;
    }
}
