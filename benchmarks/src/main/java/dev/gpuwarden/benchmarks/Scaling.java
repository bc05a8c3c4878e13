package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.SuppressForbidden;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** Runs {@link ScalingBenchmark}, prints cost by count, and fails if a cost grows faster than its count. */
public final class Scaling {

    /** The largest accepted exponent of growth. Linear is 1; noise and larger caches explain no more than this. */
    static final double MAX_EXPONENT = 1.25;

    private Scaling() {}

    /** @param args options of JMH */
    @SuppressForbidden("a program of its own: prints its table, and its exit code is the judgement")
    public static void main(String[] args) throws RunnerException, CommandLineOptionException {
        Map<String, TreeMap<Integer, Double>> costs = run(new CommandLineOptions(args));
        boolean linear = true;
        for (Map.Entry<String, TreeMap<Integer, Double>> cost : costs.entrySet()) {
            linear &= print(cost.getKey(), cost.getValue(), System.out);
        }
        if (!linear) {
            System.exit(1);
        }
    }

    /** Microseconds by benchmark and count. */
    private static Map<String, TreeMap<Integer, Double>> run(CommandLineOptions options) throws RunnerException {
        Map<String, TreeMap<Integer, Double>> costs = new TreeMap<>();
        for (RunResult result : new Runner(new OptionsBuilder()
                        .parent(options)
                        .include(ScalingBenchmark.class.getName() + "\\.")
                        .build())
                .run()) {
            String benchmark = result.getParams().getBenchmark();
            boolean gpus = result.getParams().getParamsKeys().contains("gpus");
            String unit = gpus ? "gpus" : "processes";
            costs.computeIfAbsent(
                            benchmark.substring(benchmark.lastIndexOf('.') + 1) + " by " + unit, k -> new TreeMap<>())
                    .put(
                            Integer.parseInt(result.getParams().getParam(unit)),
                            result.getPrimaryResult().getScore());
        }
        return costs;
    }

    private static boolean print(String name, TreeMap<Integer, Double> costs, PrintStream out) {
        double exponent = exponent(costs);
        boolean linear = exponent <= MAX_EXPONENT;
        out.printf(
                Locale.ROOT,
                "%n%s: grows with exponent %.2f%s%n",
                name,
                exponent,
                linear ? "" : ", FASTER THAN LINEARLY");
        out.printf(Locale.ROOT, "%8s %14s %14s%n", "count", "us", "us per one");
        costs.forEach((count, us) -> out.printf(Locale.ROOT, "%8d %14.2f %14.3f%n", count, us, us / count));
        return linear;
    }

    /**
     * Returns the exponent of growth to the largest count from a count of at most an eighth of it: 1 is linear, 2 quadratic.
     */
    static double exponent(TreeMap<Integer, Double> costs) {
        int most = costs.lastKey();
        Map.Entry<Integer, Double> fewer = costs.floorEntry(most / 8);
        if (fewer == null) {
            return 0;
        }
        return Math.log(costs.get(most) / fewer.getValue()) / Math.log((double) most / fewer.getKey());
    }
}
