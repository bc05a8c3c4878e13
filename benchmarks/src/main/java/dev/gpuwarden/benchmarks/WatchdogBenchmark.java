package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One decision about a GPU, and the copy of the watchdog's state for its record. The daemon decides after each change of memory,
 * every five seconds while a GPU is calm, and up to 20 times a second while memory is low.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(
        value = 2,
        jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx48m"})
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class WatchdogBenchmark {

    private static final long MIB = 1L << 20;
    private static final long TICK_NANOS = 250_000_000;
    /** Processes are listed with every fourth reading. */
    private static final int READINGS = 4;

    @Param({"8", "100"})
    int tenants;

    /** Free memory: enough, or below the floor with no tenant over its budget. */
    @Param({"40000", "1000"})
    int freeMebibytes;

    private final GpuWatchdog watchdog =
            new GpuWatchdog(PressureRules.DEFAULT, RecycleRules.DEFAULT, new RecycleHistory(RecycleRules.DEFAULT));
    private final List<Tenant> list = new ArrayList<>();
    private long sequence;

    @Setup
    public void fill() {
        for (int i = 0; i < tenants; i++) {
            list.add(new Tenant(
                    "pod:" + i,
                    "team/pod-" + i,
                    "team/Deployment/" + i,
                    Reading.of(400 * MIB),
                    Reading.of(300 * MIB),
                    Set.of(new ProcessKey(1000 + i, 1)),
                    0,
                    Instant.EPOCH,
                    Optional.empty(),
                    false));
        }
    }

    private GpuObservation next() {
        sequence++;
        long free = freeMebibytes * MIB;
        GpuBytes memory = new GpuBytes(81_559 * MIB, 0, 81_559 * MIB - free, free);
        long listed = sequence / READINGS * READINGS * TICK_NANOS;
        return new GpuObservation(
                "GPU-1", sequence * TICK_NANOS, sequence, Reading.of(memory), Reading.of(list), listed);
    }

    @Benchmark
    public Decision decide() {
        return watchdog.decide(next());
    }

    @Benchmark
    public WatchdogState decideAndCopyState() {
        WatchdogState before = watchdog.state();
        Decision unused = watchdog.decide(next());
        return before;
    }
}
