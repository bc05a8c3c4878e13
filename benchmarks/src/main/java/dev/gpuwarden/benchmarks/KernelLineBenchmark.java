package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.daemon.grpc.NodeClient;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/**
 * Measures the time from the write of a kernel line until a client that watches the node over gRPC has the event, which is
 * stored and synced before. The shipped daemon samples eight GPUs. Lines come at a fixed rate. A twentieth of them repeat a
 * few faults, and some raise a new fault.
 */
public final class KernelLineBenchmark {

    private static final double GOAL_MILLIS = 10;
    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(1);
    private static final int WARM_UP_SECONDS = 20;
    private static final Pattern PID = Pattern.compile("pid=(\\d+), name=new");

    /** Codes that raise a fault regardless of their history. */
    private static final List<Integer> CODES =
            List.of(31, 43, 46, 48, 54, 57, 58, 61, 62, 64, 65, 69, 74, 94, 95, 109, 119, 120, 123, 140);

    private static final List<Integer> REPEATED = List.of(13, 32, 68);

    private final SimulatedNode node;
    private final KernelLines lines;
    private final Map<Long, Long> written = new ConcurrentHashMap<>();
    private final Histogram micros = new Histogram(1, LONGEST_MICROS, 3);
    private final CountDownLatch watching = new CountDownLatch(1);
    private long number;
    private long faults;

    private KernelLineBenchmark(SimulatedNode node) {
        this.node = node;
        lines = new KernelLines(node);
    }

    /** @param args duration in seconds, lines per second, new faults per second */
    @SuppressForbidden("a program of its own: prints its figures")
    public static void main(String[] args) throws IOException, InterruptedException {
        int seconds = Integer.parseInt(args[0]);
        int rate = Integer.parseInt(args[1]);
        int news = Integer.parseInt(args[2]);
        boolean kept;
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            kept = new KernelLineBenchmark(node).run(System.out, seconds, rate, news);
        }
        if (!kept) {
            throw new IllegalStateException("the goal of " + GOAL_MILLIS + " ms is missed");
        }
    }

    private boolean run(PrintStream out, int seconds, int rate, int news) throws IOException, InterruptedException {
        try (ShippedDaemon daemon = ShippedDaemon.start(node, List.of());
                NodeClient client = NodeClient.of(daemon.socket());
                KernelLogWriter log = new KernelLogWriter(node.kernelLog())) {
            DaemonWatch.begin(client, WatchKind.WATCH_KIND_EVENTS, this::received);
            if (!watching.await(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no answer to Watch:\n" + daemon.log());
            }
            write(log, WARM_UP_SECONDS, rate, news);
            settle();
            synchronized (micros) {
                micros.reset();
            }
            faults = 0;
            double cpu = daemon.cpuSeconds();
            double turns = daemon.metric("gpuwarden_sampler_turn_duration_seconds_count");
            long began = System.nanoTime();
            long records = (long) daemon.metric("gpuwarden_kernel_log_records_total");
            write(log, seconds, rate, news);
            settle();
            double took = (System.nanoTime() - began) / 1e9;
            synchronized (micros) {
                out.printf(
                        Locale.ROOT,
                        "%d lines/s for %d s, %d new faults/s: read %.0f lines, %d of %d faults seen, %.0f turns of sampling,"
                                + " daemon %.3f cores, load %s%n",
                        rate,
                        seconds,
                        news,
                        daemon.metric("gpuwarden_kernel_log_records_total") - records,
                        micros.getTotalCount(),
                        faults,
                        daemon.metric("gpuwarden_sampler_turn_duration_seconds_count") - turns,
                        (daemon.cpuSeconds() - cpu) / took,
                        Files.readString(Path.of("/proc/loadavg")).trim());
                out.println(Figures.millis(
                        "line written to event seen by a client   p50 %.2f ms  p90 %.2f  p99 %.2f  p99.9 %.2f  max %.2f ms",
                        micros, 50, 90, 99, 99.9, 100));
                out.printf(
                        Locale.ROOT,
                        "of that, a transaction with its sync              p50 %.2f ms  p90 %.2f  p99 %.2f  max %.2f ms%n",
                        commitMillis(daemon, "0.5"),
                        commitMillis(daemon, "0.9"),
                        commitMillis(daemon, "0.99"),
                        commitMillis(daemon, "1.0"));
                if (micros.getTotalCount() != faults) {
                    throw new IllegalStateException(
                            "faults that were never reported: " + written.keySet() + "\n" + daemon.log());
                }
                return micros.getValueAtPercentile(99) / 1e3 <= GOAL_MILLIS;
            }
        }
    }

    private static double commitMillis(ShippedDaemon daemon, String quantile) {
        return 1e3 * daemon.metric("gpuwarden_store_commit_duration_seconds{quantile=\"" + quantile + "\"}");
    }

    /** Writes each line when it is due, regardless of the duration of the write before. */
    private void write(KernelLogWriter log, int seconds, int rate, int news) throws IOException {
        long start = System.nanoTime();
        for (long n = 0; n < (long) seconds * rate; n++) {
            long due = start + n * TimeUnit.SECONDS.toNanos(1) / rate;
            for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
                LockSupport.parkNanos(due - now);
            }
            number++;
            if (n % (rate / news) == 0) {
                fault(log);
            } else if (number % 20 == 0) {
                log.write(List.of(
                        lines.xid((int) (number / 20 % 2), REPEATED.get((int) (number / 20 % 3)), number, "old")));
            } else {
                log.write(List.of(KernelLines.noise(number)));
            }
        }
    }

    /** Writes a new fault: GPUs in turn, then codes. A GPU with all codes is reset and starts again. */
    private void fault(KernelLogWriter log) throws IOException {
        int gpus = node.control().gpuCount();
        long turn = faults++;
        int gpu = (int) (turn % gpus);
        int code = (int) (turn / gpus % CODES.size());
        if (code == 0) {
            log.write(List.of(lines.reset(gpu)));
        }
        String line = lines.xid(gpu, CODES.get(code), number, "new");
        written.put(number, System.nanoTime());
        log.write(List.of(line));
    }

    private void settle() {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        while (!written.isEmpty() && System.nanoTime() - until < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    private void received(WatchResponse response) {
        long now = System.nanoTime();
        watching.countDown();
        Matcher pid = PID.matcher(response.getEvent().getEvent().getMessage());
        if (pid.find()) {
            Long at = written.remove(Long.parseLong(pid.group(1)));
            if (at != null) {
                synchronized (micros) {
                    micros.recordValue(Math.min(LONGEST_MICROS, (now - at) / 1000));
                }
            }
        }
    }
}
