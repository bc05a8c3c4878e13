package dev.gpuwarden.benchmarks;

import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.checks.telemetry.SamplerStats;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.checks.telemetry.SingleReading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.daemon.metrics.Exposition;
import dev.gpuwarden.daemon.metrics.MetricsOptions;
import dev.gpuwarden.daemon.metrics.Scraper;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
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

    /** The daemon's state of a node after one reading, and the parts that make metrics from it. */
    record Snapshot(NodeSnapshot node, NodeMemory memory, Scraper scraper) {

        private record Seen(NodeSnapshot node, SamplerStats stats) {}

        static Snapshot of(Node node) {
            Seen seen = SingleReading.once(
                    node.provider(SamplerPath.AUTO),
                    new SamplingSettings(),
                    new PciBus(node.paths()),
                    sampler -> new Seen(sampler.snapshot(), sampler.stats()));
            if (seen.node.gpus().isEmpty()) {
                throw new IllegalStateException("no GPUs: " + seen.node.driver());
            }
            NodeMemory memory = new NodeMemory(new ProcessOwners(node.paths()));
            Exposition exposition = new Exposition(MetricsOptions.of(false, false, false));
            return new Snapshot(seen.node, memory, new Scraper(seen::node, seen.stats, memory, exposition));
        }

        /** Returns one scrape like the daemon: attribution, all series, text. */
        byte[] scrape() {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream(256 * 1024);
            try {
                PrometheusTextFormatWriter.create().write(bytes, scraper.scrape());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return bytes.toByteArray();
        }
    }
}
