package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.nat.cuda.CudaConstant;
import dev.gpuwarden.nat.cuda.CudaException;
import dev.gpuwarden.nat.cuda.CudaLibrary;
import dev.gpuwarden.nat.cuda.CudaStart;
import dev.gpuwarden.nat.cuda.CudaSymbol;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The host's time for a call of libcuda through the binding, and in the C program compute_loop, on the same simulated library. Between two
 * invocations the stream is awaited, so that waits for the simulated GPU's time are not measured. An invocation has
 * {@value #CALLS} calls, so that the pipe to the C program costs almost nothing.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
        value = 2,
        jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx48m"})
@Warmup(iterations = 2, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class ComputeCallBenchmark {

    private static final int CALLS = 1000;
    private static final int COPY_BYTES = 1 << 20;
    private static final long ELEMENTS = 1 << 14;
    private static final long PER_BLOCK = 1 << 14;
    private static final long THREADS = 256;

    /** A node, its library and the work. */
    @State(Scope.Thread)
    public static class Calls {

        @Param({"trivial", "launch", "daxpy", "to-device", "to-host", "within"})
        String work = "";

        private SimulatedNode node;
        private Path folder;
        private LineProgram baseline;
        private CudaLibrary library;
        private NativeMemory out;
        private NativeMemory memory;
        private long stream;
        private long event;
        private CudaSymbol symbol;
        private long[] values = {};
        private Invocation call;

        @Setup(Level.Trial)
        public void open() throws CudaException, IOException {
            node = SimulatedNode.start("h100x8");
            folder = Files.createTempDirectory("gpuwarden-ptx-");
            byte[] ptx = ptx();
            Files.write(folder.resolve("daxpy.ptx"), ptx);
            Path cuda = node.libraryPath().resolveSibling("libcuda.so.1");
            baseline = LineProgram.start("gpuwarden.compute-baseline", cuda.toString(), folder.toString());
            library = started(new DriverOptions(List.of(cuda.toString()), SamplerPath.AUTO));
            out = NativeMemory.allocate(Long.BYTES);
            memory = NativeMemory.allocate(1 << 10);
            library.require(CudaSymbol.CONTEXT_SET, ask(CudaSymbol.CONTEXT_RETAIN, 0));
            stream = ask(CudaSymbol.STREAM_CREATE, CudaConstant.CU_STREAM_NON_BLOCKING.number());
            event = ask(CudaSymbol.EVENT_CREATE, CudaConstant.CU_EVENT_DEFAULT.number());
            prepare(ptx);
        }

        private static CudaLibrary started(DriverOptions options) {
            Opening<CudaLibrary> started = CudaStart.start(options);
            return started.reading()
                    .asOptional()
                    .orElseThrow(() -> new IllegalStateException("no CUDA driver: " + started));
        }

        private static byte[] ptx() throws IOException {
            try (InputStream in = Objects.requireNonNull(CudaLibrary.class.getResourceAsStream("daxpy.ptx"))) {
                return in.readAllBytes();
            }
        }

        private long ask(CudaSymbol create, long... rest) throws CudaException {
            long[] arguments = new long[rest.length + 1];
            arguments[0] = out.address();
            System.arraycopy(rest, 0, arguments, 1, rest.length);
            library.require(create, arguments);
            return out.buffer().getLong(0);
        }

        private void prepare(byte[] ptx) throws CudaException {
            long to = ask(CudaSymbol.MEMORY_ALLOCATE, COPY_BYTES);
            long from = ask(CudaSymbol.MEMORY_ALLOCATE, COPY_BYTES);
            long host = ask(CudaSymbol.HOST_ALLOCATE, COPY_BYTES, 0);
            switch (work) {
                case "trivial" -> call(CudaSymbol.STREAM_QUERY, stream);
                case "to-device" -> call(CudaSymbol.COPY_TO_DEVICE, to, host, COPY_BYTES, stream);
                case "to-host" -> call(CudaSymbol.COPY_TO_HOST, host, from, COPY_BYTES, stream);
                case "within" -> call(CudaSymbol.COPY_WITHIN, to, from, COPY_BYTES, stream);
                default -> launch(function(ptx), from, to, work.equals("daxpy") ? ELEMENTS : 1);
            }
        }

        private long function(byte[] ptx) throws CudaException {
            try (NativeMemory text = NativeMemory.allocate(ptx.length + 1);
                    NativeMemory name = NativeMemory.allocate(16)) {
                text.buffer().put(0, ptx);
                name.buffer().put(0, "daxpy".getBytes(StandardCharsets.US_ASCII));
                return ask(CudaSymbol.MODULE_FUNCTION, ask(CudaSymbol.MODULE_LOAD, text.address()), name.address());
            }
        }

        /** The argument's structure (daxpy_args) and the list with its address follow the call's own memory. */
        private void launch(long function, long x, long y, long count) {
            int list = 512;
            memory.buffer().putLong(list, memory.address() + list + 8);
            long[] words = {0, x, y, count, PER_BLOCK, 0};
            for (int i = 0; i < words.length; i++) {
                memory.buffer().putLong(list + 8 + 8 * i, words[i]);
            }
            long blocks = (count + PER_BLOCK - 1) / PER_BLOCK;
            call(CudaSymbol.LAUNCH, function, blocks, 1, 1, THREADS, 1, 1, 0, stream, memory.address() + list, 0);
        }

        private void call(CudaSymbol called, long... arguments) {
            symbol = called;
            values = arguments;
            call = library.prepare(called, memory, 0);
            for (int i = 0; i < arguments.length; i++) {
                call.set(i, arguments[i]);
            }
        }

        /** Waits until the simulated GPU has done all work. */
        @Setup(Level.Invocation)
        public void settle() throws CudaException {
            library.require(CudaSymbol.EVENT_RECORD, event, stream);
            library.require(CudaSymbol.EVENT_SYNCHRONIZE, event);
            baseline.ask("sync");
        }

        @TearDown(Level.Trial)
        public void close() {
            baseline.close();
            node.close();
            try {
                Files.delete(folder.resolve("daxpy.ptx"));
                Files.delete(folder);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int java(Calls calls) throws CudaException {
        int last = 0;
        for (int i = 0; i < CALLS; i++) {
            last = calls.call.callInt();
            CudaLibrary.check(calls.symbol, last);
        }
        return last;
    }

    /** With memory for each call, as calls are made that occur once in a measurement. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int unprepared(Calls calls) throws CudaException {
        int last = 0;
        for (int i = 0; i < CALLS; i++) {
            last = calls.library.call(calls.symbol, calls.values);
            CudaLibrary.check(calls.symbol, last);
        }
        return last;
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public String c(Calls calls) {
        return calls.baseline.ask(calls.work + " " + CALLS);
    }
}
