package dev.gpuwarden.nccl.report;

import dev.gpuwarden.nccl.plan.Plan;
import dev.gpuwarden.nccl.report.Row.Half;
import dev.gpuwarden.nccl.report.Row.IterationTimes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The file of option `-J`, with the keys of nccl-tests. It contains only NCCL_* and CUDA_* of the environment, since other variables can be
 * secrets.
 */
public final class JsonReport {

    private static final int FILE_VERSION = 1;
    private static final List<String> PUBLIC_PREFIXES = List.of("NCCL_", "CUDA_");

    private JsonReport() {}

    /** The content of the file besides the plan and the rows. */
    public record Facts(
            String started, String ended, List<String> arguments, Map<String, String> environment, int ncclVersion) {}

    /**
     * Returns the content for the JSON writer.
     *
     * @param verdict empty where the run failed
     * @param errors messages of failures
     */
    public static Map<String, Object> tree(
            Facts facts,
            Plan plan,
            List<RankLine> ranks,
            List<Row> rows,
            Optional<Verdict> verdict,
            List<String> errors) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("version", FILE_VERSION);
        tree.put("start_time", facts.started());
        tree.put("args", facts.arguments());
        tree.put("env", environment(facts.environment()));
        tree.put("nccl_version", facts.ncclVersion());
        tree.put("config", config(plan));
        tree.put("devices", ranks.stream().map(RankLine::tree).toList());
        tree.put("results", rows.stream().map(row -> row(plan, row)).toList());
        verdict.ifPresent(result -> {
            tree.put("out_of_bounds", map("count", result.outOfBounds(), "okay", text(result.outOfBounds() == 0)));
            tree.put(
                    "average_bus_bandwidth",
                    map(
                            "bandwidth",
                            result.meanBus(),
                            "okay",
                            result.required().isEmpty() ? "unchecked" : text(result.isFastEnough())));
        });
        tree.put("errors", errors);
        tree.put("end_time", facts.ended());
        return tree;
    }

    private static List<String> environment(Map<String, String> environment) {
        return environment.entrySet().stream()
                .filter(entry -> PUBLIC_PREFIXES.stream().anyMatch(entry.getKey()::startsWith))
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .sorted()
                .toList();
    }

    private static Map<String, Object> config(Plan plan) {
        Map<String, Object> config = new LinkedHashMap<>();
        config.put("nthreads", plan.threads());
        config.put("ngpus", plan.gpus());
        config.put("minimum_bytes", plan.sizes().least());
        config.put("maximum_bytes", plan.sizes().most());
        if (plan.sizes().factor() > 1) {
            config.put("step_factor", plan.sizes().factor());
        } else {
            config.put("step_bytes", plan.sizes().step());
        }
        config.put("warmup_iters", plan.warmUps());
        config.put("iterations", plan.iterations());
        config.put("aggregated_iterations", plan.aggregated());
        config.put("validation", plan.checks());
        config.put("graph", plan.graphs());
        config.put("blocking_collectives", text(plan.blocking() > 0));
        config.put("per_iter_timing", text(plan.switches().perIteration()));
        config.put("per_iter_skip", plan.switches().skipped());
        config.put("parallel_init", text(plan.switches().parallelInit()));
        return config;
    }

    private static Map<String, Object> row(Plan plan, Row row) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("size", row.bytes());
        tree.put("count", row.count());
        tree.put("type", row.series().type().label());
        tree.put("redop", row.series().operator().label());
        // nccl-tests writes the column, with its leading spaces.
        tree.put("root", NumberText.right(row.series().root(), 6));
        put(tree, plan, "out_of_place", row.outOfPlace());
        put(tree, plan, "in_place", row.inPlace());
        tree.put("actual_iterations", plan.iterations());
        tree.put("experiment_name", "");
        return tree;
    }

    private static void put(Map<String, Object> tree, Plan plan, String key, Half half) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        values.put(plan.switches().processorTime() ? "cpu_time" : "time", half.seconds() * 1e6);
        values.put("alg_bw", half.bandwidth().algorithm());
        values.put("bus_bw", half.bandwidth().bus());
        values.put("nwrong", half.wrong().isPresent() ? half.wrong().getAsLong() : null);
        tree.put(key, values);
        half.iterations().ifPresent(times -> tree.put(key + "_per_iter", iterations(times)));
    }

    /** Returns the statistics without the iterations that are skipped. */
    static IterationStats statistics(IterationTimes times) {
        return IterationStats.of(
                times.all().subList(times.skipped(), times.all().size()));
    }

    private static Map<String, Object> iterations(IterationTimes times) {
        IterationStats stats = statistics(times);
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("skipped_iterations", times.skipped());
        tree.put("min_us", stats.least());
        tree.put("max_us", stats.most());
        tree.put("avg_us", stats.mean());
        tree.put("p50_us", stats.p50());
        tree.put("p95_us", stats.p95());
        tree.put("p99_us", stats.p99());
        tree.put("stdev_us", stats.deviation());
        tree.put("cv_pct", stats.deviationPercent());
        tree.put("times_us", microseconds(times.all()));
        if (!times.perProcess().isEmpty()) {
            tree.put(
                    "per_process_max_times_us",
                    times.perProcess().stream().map(JsonReport::microseconds).toList());
        }
        return tree;
    }

    private static List<Object> microseconds(List<Double> seconds) {
        return new ArrayList<>(seconds.stream().map(one -> one * 1e6).toList());
    }

    private static Map<String, Object> map(String first, Object one, String second, Object two) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(first, one);
        map.put(second, two);
        return map;
    }

    /** nccl-tests writes booleans as text. */
    private static String text(boolean value) {
        return value ? "true" : "false";
    }
}
