package dev.gpuwarden.benchmarks;

import dev.gpuwarden.benchmarks.SamplerBenchmark.GpuSampling;
import dev.gpuwarden.benchmarks.ScrapeBenchmark.Snapshot;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.Cadence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Cost by the number of GPUs and of processes. {@link Scaling} runs it and checks the growth. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m"})
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class ScalingBenchmark {

    /** Opens a node for one count, from a scenario of its own. */
    private static Node node(String scenario) {
        try {
            Path file = Files.createTempFile("scaling-", ".yaml");
            try {
                Files.writeString(file, scenario);
                return Node.open(file.toString());
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** A node with this many GPUs, a pod's process on each. */
    @State(Scope.Thread)
    public static class Gpus {
        @Param({"1", "2", "4", "8", "16", "32", "64"})
        int gpus;

        private Node node;
        private List<GpuSampling> samplings = List.of();
        private Snapshot snapshot;

        @Setup(Level.Trial)
        public void open() {
            StringBuilder scenario = new StringBuilder("description: GPUs\ndriver: 550\ngpus:\n")
                    .append("  - {profile: h100-sxm5-80gb, count: ")
                    .append(gpus)
                    .append("}\nprocesses:\n");
            for (int i = 0; i < gpus; i++) {
                scenario.append("  - {pid: ")
                        .append(20000 + i)
                        .append(", gpu: ")
                        .append(i)
                        .append(", bytes: 1GiB, sm: 0, pod: {namespace: batch, name: shard-")
                        .append(i)
                        .append(", container: worker}}\n");
            }
            node = node(scenario.toString());
            samplings = GpuSampling.of(node.driver(SamplerPath.AUTO), gpus);
            snapshot = Snapshot.of(node);
        }

        @TearDown(Level.Trial)
        public void close() {
            samplings.forEach(GpuSampling::close);
            node.close();
        }
    }

    /** One GPU with this many processes, each a pod's. */
    @State(Scope.Thread)
    public static class Processes {
        @Param({"10", "50", "100", "500"})
        int processes;

        private Node node;
        private Driver driver;
        private Snapshot snapshot;

        @Setup(Level.Trial)
        public void open() {
            node = node(
                    "description: processes\ndriver: 550\ngpus:\n  - {profile: h100-sxm5-80gb}\nprocesses:\n"
                            + "  - {pid: 20000, count: " + processes
                            + ", gpu: 0, bytes: 100MiB, sm: 0, pod: {namespace: batch, name: \"shard-{n}\", container: worker}}\n");
            driver = node.driver(SamplerPath.AUTO);
            snapshot = Snapshot.of(node);
            int listed = driver.processes(0).asOptional().orElse(List.of()).size();
            if (listed != processes) {
                throw new IllegalStateException("expected " + processes + " processes, the driver lists " + listed);
            }
        }

        @TearDown(Level.Trial)
        public void close() {
            node.close();
        }
    }

    @Benchmark
    public long tickFast(Gpus node) {
        return tick(node, Cadence.FAST);
    }

    @Benchmark
    public long tickSlow(Gpus node) {
        return tick(node, Cadence.SLOW);
    }

    private static long tick(Gpus node, Cadence cadence) {
        long calls = 0;
        for (int i = 0; i < node.samplings.size(); i++) {
            GpuSampling sampling = node.samplings.get(i);
            sampling.sample(cadence);
            calls += sampling.frame().calls();
        }
        return calls;
    }

    @Benchmark
    public byte[] scrape(Gpus node) {
        return node.snapshot.scrape();
    }

    @Benchmark
    public List<GpuMemoryUse> attribution(Gpus node) {
        return node.snapshot.memory().attribute(node.snapshot.node());
    }

    @Benchmark
    public Reading<List<GpuProcess>> listing(Processes node) {
        return node.driver.processes(0);
    }

    @Benchmark
    public List<GpuMemoryUse> attributionOfProcesses(Processes node) {
        return node.snapshot.memory().attribute(node.snapshot.node());
    }
}
