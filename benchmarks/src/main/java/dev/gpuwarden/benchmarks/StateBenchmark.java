package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/**
 * Measures the time from a change in the driver until a scrape shows it. The shipped daemon reads eight GPUs each second, and
 * scrapes within a second share one exposition. A client scrapes twenty times a second.
 */
public final class StateBenchmark {

    /** The goal in milliseconds: two sampling intervals. */
    private static final double GOAL_MILLIS = 2000;

    private static final int GPU = 3;
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);

    private StateBenchmark() {}

    /** @param args number of changes */
    @SuppressForbidden("a program of its own: prints its figures")
    public static void main(String[] args) throws IOException {
        int changes = Integer.parseInt(args[0]);
        Histogram millis = new Histogram(1, TimeUnit.MINUTES.toMillis(1), 3);
        // A fixed seed gives each run the same random moments of the sampling interval.
        Random random = new Random(1);
        try (SimulatedNode node = SimulatedNode.start("h100x8");
                ShippedDaemon daemon = ShippedDaemon.start(node, List.of())) {
            for (int i = 0; i < changes; i++) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(1000)));
                millis.recordValue(seen(node, daemon, 40 + i % 40));
            }
        }
        report(System.out, millis);
        if (millis.getValueAtPercentile(99) > GOAL_MILLIS) {
            throw new IllegalStateException("the goal of " + GOAL_MILLIS + " ms is missed");
        }
    }

    private static long seen(SimulatedNode node, ShippedDaemon daemon, int celsius) throws IOException {
        Pattern line = Pattern.compile(
                "^gpuwarden_gpu_temperature_celsius\\{gpu=\"" + GPU + "\",[^}]*} " + celsius + "\\.0$",
                Pattern.MULTILINE);
        long began = System.nanoTime();
        node.set("gpu." + GPU + ".temperature", celsius + "C");
        while (!line.matcher(daemon.get("/metrics").orElse("")).find()) {
            if (System.nanoTime() - began > LONGEST_NANOS) {
                throw new IllegalStateException("expected on /metrics, never seen: " + celsius + " C\n" + daemon.log());
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    }

    private static void report(PrintStream out, Histogram millis) throws IOException {
        out.printf(
                Locale.ROOT,
                "changed in the driver to seen by a scrape, %d changes   p50 %d ms  p90 %d  p99 %d  max %d ms, load %s%n",
                millis.getTotalCount(),
                millis.getValueAtPercentile(50),
                millis.getValueAtPercentile(90),
                millis.getValueAtPercentile(99),
                millis.getMaxValue(),
                Files.readString(Path.of("/proc/loadavg")).trim());
    }
}
