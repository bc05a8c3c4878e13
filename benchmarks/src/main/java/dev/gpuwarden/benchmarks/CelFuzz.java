package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.objectmonitor.CompiledPolicy;
import dev.gpuwarden.aggregator.objectmonitor.CompiledPolicy.Outcome;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.testkit.cel.RandomExpressions;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Evaluates random MonitorPolicies in a heap of the aggregator's size, while another policy is evaluated all the time. */
final class CelFuzz {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");
    /** Without a pause the asking thread takes a whole processor, and a run needs two quiet ones. */
    private static final long ASKING_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final Map<String, Object> POD = Map.of(
            "metadata",
            Map.of("name", "xy".repeat(126), "namespace", "x".repeat(63), "labels", Map.of("a", "x".repeat(63))),
            "spec",
            Map.of("nodeName", "node-1"),
            "status",
            Map.of(
                    "message",
                    "xy".repeat(8000),
                    "names",
                    IntStream.range(0, 512).mapToObj(Integer::toString).toList()));

    private CelFuzz() {}

    private static MonitorPolicy policy(String predicate) throws IOException {
        return MonitorPolicy.of(Json.readObject("""
                {"apiVersion": "gpuwarden.dev/v1alpha1", "kind": "MonitorPolicy", "metadata": {"name": "p", "generation": 1},
                 "spec": {"resource": {"version": "v1", "kind": "Pod"}, "predicate": {"expression": EXPRESSION},
                  "nodeAssociation": {"expression": "resource.spec.nodeName"},
                  "healthEvent": {"componentClass": "Pod", "isFatal": true, "message": "m", "checkName": "c"}}}""".replace("EXPRESSION", Json.write(predicate))));
    }

    /** Arguments: expressions, seed. */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        int wanted = Integer.parseInt(args[0]);
        RandomExpressions expressions = new RandomExpressions(
                Long.parseLong(args[1]),
                List.of("resource.metadata.name", "resource.status.message", "resource.metadata.labels['a']"),
                List.of("resource.status.names", "['x', 'yy']"));
        AtomicBoolean done = new AtomicBoolean();
        Histogram other = new ConcurrentHistogram(TimeUnit.MINUTES.toMicros(5), 3);
        CompiledPolicy victim = CompiledPolicy.compile(policy("resource.metadata.name == 'a'"));
        Thread asking = new Thread(() -> {
            while (!done.get()) {
                long start = System.nanoTime();
                Outcome unused = victim.evaluate(POD, NOW);
                other.recordValue(Math.min((System.nanoTime() - start) / 1000, other.getHighestTrackableValue()));
                LockSupport.parkNanos(ASKING_PAUSE_NANOS);
            }
        });
        asking.start();
        Histogram evaluations = new Histogram(TimeUnit.MINUTES.toMicros(5), 3);
        Histogram compilations = new Histogram(TimeUnit.MINUTES.toMicros(5), 3);
        int refused = 0;
        int costly = 0;
        int failed = 0;
        String slowest = "";
        for (int i = 1; i <= wanted; i++) {
            String expression = expressions.next();
            long start = THREADS.getCurrentThreadCpuTime();
            try {
                CompiledPolicy policy = CompiledPolicy.compile(policy(expression));
                long compiled = THREADS.getCurrentThreadCpuTime();
                compilations.recordValue((compiled - start) / 1000);
                Outcome outcome = policy.evaluate(POD, NOW);
                long micros = (THREADS.getCurrentThreadCpuTime() - compiled) / 1000;
                slowest = micros > evaluations.getMaxValue() ? expression : slowest;
                evaluations.recordValue(micros);
                costly += outcome.tooCostly() ? 1 : 0;
                failed += outcome.problem().isPresent() && !outcome.tooCostly() ? 1 : 0;
            } catch (InvalidExpressionException e) {
                refused++;
            }
            if (i % 10_000 == 0) {
                System.err.printf(Locale.ROOT, "%d of %d%n", i, wanted);
            }
        }
        done.set(true);
        asking.join();
        out.printf(
                Locale.ROOT,
                "%d expressions: %d too costly, %d failed, %d refused when compiled%n",
                wanted,
                costly,
                failed,
                refused);
        print(out, "compilation, processor time", compilations);
        print(out, "evaluation, processor time", evaluations);
        print(out, "evaluation of another policy beside it, by the clock", other);
        out.println("slowest: " + slowest);
    }

    private static void print(PrintStream out, String what, Histogram micros) {
        out.println(what + ": "
                + Figures.millis("p50 %.3f ms, p99 %.3f ms, p99.99 %.3f ms, most %.3f ms", micros, 50, 99, 99.99, 100));
    }
}
