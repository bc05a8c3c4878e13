package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.process.GpuMemoryUse;
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

/** The cost of one scrape, and of its attribution of memory, compiled and collected like in the daemon. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(
        value = 2,
        jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx48m", "-Xmn4m"})
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class ScrapeBenchmark {

    @Param("h100x8")
    String scenario = "";

    private Node node;
    private Snapshot snapshot;

    @Setup(Level.Trial)
    public void open() {
        node = Node.open(scenario);
        snapshot = Snapshot.of(node);
    }

    @TearDown(Level.Trial)
    public void close() {
        node.close();
    }

    @Benchmark
    public byte[] scrape() {
        return snapshot.scrape();
    }

    /** Reads one small file for each process, like every scrape. */
    @Benchmark
    public List<GpuMemoryUse> attribution() {
        return snapshot.memory().attribute(snapshot.node());
    }
}
