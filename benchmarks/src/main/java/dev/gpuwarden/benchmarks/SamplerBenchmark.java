package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
 * One tick over all GPUs: on both paths of the sampler, compiled like in the daemon, and in C. The benchmark fails unless the
 * C program makes the same calls. The C program executes {@value #ROUNDS} ticks per request, so that the pipe costs almost
 * nothing.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
        value = 3,
        jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx48m"})
@Warmup(iterations = 3, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 8, time = 400, timeUnit = TimeUnit.MILLISECONDS)
public class SamplerBenchmark {

    private static final int ROUNDS = 200;

    /** The node and its readings. */
    @State(Scope.Thread)
    public abstract static class Tick {

        /** A scenario of testkit, or "real" for the driver of this machine. */
        @Param("h100x8")
        String scenario = "";

        /** Number of GPUs from the first on; 0 for all. */
        @Param("0")
        int gpus;

        @Param({"FAST", "SLOW"})
        Cadence cadence = Cadence.FAST;

        Node node;

        @Setup(Level.Trial)
        public void open() {
            node = Node.open(scenario);
            start();
        }

        abstract void start();

        abstract void stop();

        @TearDown(Level.Trial)
        public void close() {
            stop();
            node.close();
        }
    }

    /** A tick in this process. */
    public abstract static class JavaTick extends Tick {
        private final SamplerPath path;
        private List<GpuSampling> samplings = List.of();

        JavaTick(SamplerPath path) {
            this.path = path;
        }

        @Override
        void start() {
            samplings = GpuSampling.of(node.driver(path), gpus);
        }

        @Override
        void stop() {
            samplings.forEach(GpuSampling::close);
        }

        final void run() {
            for (int i = 0; i < samplings.size(); i++) {
                samplings.get(i).sample(cadence);
            }
        }

        final GpuFrame last() {
            return samplings.get(samplings.size() - 1).frame();
        }
    }

    /** One JNI call per GPU. */
    public static class JniTick extends JavaTick {
        public JniTick() {
            super(SamplerPath.JNI);
        }
    }

    /** One JNI transition per driver call, through JNA's libffi. */
    public static class JnaTick extends JavaTick {
        public JnaTick() {
            super(SamplerPath.JNA);
        }
    }

    /** The C program. */
    public static class CTick extends Tick {
        private Baseline baseline;

        @Override
        void start() {
            baseline = Baseline.start(node.library(), gpus);
            long inC = baseline.rounds(cadence, 1);
            long inJava = callsInJava();
            if (inC != inJava) {
                throw new IllegalStateException("calls of one " + cadence + " tick: " + inC + " in C, " + inJava
                        + " in Java: not the same work");
            }
        }

        private long callsInJava() {
            List<GpuSampling> samplings = GpuSampling.of(node.driver(SamplerPath.AUTO), gpus);
            long calls = 0;
            for (GpuSampling sampling : samplings) {
                sampling.sample(cadence);
                calls += sampling.frame().calls();
                sampling.close();
            }
            return calls;
        }

        @Override
        void stop() {
            baseline.close();
        }
    }

    @Benchmark
    public GpuFrame jni(JniTick tick) {
        tick.run();
        return tick.last();
    }

    @Benchmark
    public GpuFrame jna(JnaTick tick) {
        tick.run();
        return tick.last();
    }

    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public long c(CTick tick) {
        return tick.baseline.rounds(tick.cadence, ROUNDS);
    }

    /** The C program that takes the same readings (src/main/c/sampler_loop.c), as a child process. */
    record Baseline(LineProgram program) implements AutoCloseable {

        /**
         * Starts the C program.
         *
         * @param gpus number of GPUs from the first on; 0 for all
         */
        static Baseline start(String library, int gpus) {
            return new Baseline(LineProgram.start("gpuwarden.baseline", library, Integer.toString(gpus)));
        }

        /**
         * Takes the readings of all GPUs `rounds` times. Blocks until it is done.
         *
         * @return library calls of one round
         */
        long rounds(Cadence cadence, int rounds) {
            String answer = program.ask(cadence.name().toLowerCase(Locale.ROOT) + " " + rounds);
            return Long.parseLong(answer.substring(0, answer.indexOf(' ')));
        }

        /** Returns every reading of every GPU as a JSON array. */
        String values() {
            return program.ask("values");
        }

        @Override
        public void close() {
            program.close();
        }
    }

    /** A GPU's sampler with the frame that it fills. */
    record GpuSampling(Driver.Sampler sampler, GpuFrame frame) implements AutoCloseable {

        /** @param gpus number of GPUs from the first on; 0 for all */
        static List<GpuSampling> of(Driver driver, int gpus) {
            List<GpuIdentity> known = driver.enumerate()
                    .asOptional()
                    .orElseThrow(() -> new IllegalStateException("GPUs cannot be counted"));
            if (known.isEmpty() || gpus > known.size()) {
                throw new IllegalStateException("asked for " + gpus + " GPUs, the driver has " + known.size());
            }
            List<GpuSampling> samplings = new ArrayList<>();
            for (GpuIdentity gpu : known.subList(0, gpus == 0 ? known.size() : gpus)) {
                samplings.add(new GpuSampling(driver.sampler(gpu.index()), new GpuFrame()));
            }
            return samplings;
        }

        void sample(Cadence cadence) {
            sampler.sample(cadence, frame);
        }

        @Override
        public void close() {
            sampler.close();
        }
    }
}
