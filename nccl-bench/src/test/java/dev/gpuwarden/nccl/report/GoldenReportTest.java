package dev.gpuwarden.nccl.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.nccl.plan.Averaging;
import dev.gpuwarden.nccl.plan.Collective;
import dev.gpuwarden.nccl.plan.Collective.Bandwidth;
import dev.gpuwarden.nccl.plan.Layout;
import dev.gpuwarden.nccl.plan.MessageSizes;
import dev.gpuwarden.nccl.plan.Operator;
import dev.gpuwarden.nccl.plan.Plan;
import dev.gpuwarden.nccl.report.JsonReport.Facts;
import dev.gpuwarden.nccl.report.Row.Half;
import dev.gpuwarden.nccl.report.Row.IterationTimes;
import dev.gpuwarden.nccl.report.RunText.MemoryUse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/**
 * The whole output for fixed measurements. {@code -Dgolden.update=true} writes the files. The table was compared with the format strings
 * of nccl-tests 2.19.
 */
class GoldenReportTest {

    private static final Path FOLDER =
            Path.of(System.getProperty("gpuwarden.repository"), "nccl-bench/src/test/resources/golden");

    private static final List<RankLine> RANKS = List.of(
            new RankLine(0, 0, 4711, "gpu1", 0, "0000:1b:00", "NVIDIA H100 80GB HBM3"),
            new RankLine(1, 0, 4711, "gpu1", 1, "0000:2b:00", "NVIDIA H100 80GB HBM3"));

    private static Plan plan(Plan.Switches switches) {
        return new Plan(
                Collective.ALL_REDUCE,
                1,
                2,
                new MessageSizes(8, 128 << 20, 1 << 20, 64),
                List.of(Operator.SUM),
                List.of(ElementType.FLOAT),
                0,
                20,
                1,
                1,
                1,
                1,
                0,
                Averaging.AVERAGE,
                switches.perIteration() ? 3 : 0,
                2,
                Duration.ZERO,
                Duration.ofMinutes(5),
                switches);
    }

    private static Plan.Switches switches(boolean others) {
        return new Plan.Switches(false, others, others, 0, -1, others, others, others, others ? 1 : 0);
    }

    /** Times that grow with the size; the largest message has wrong elements. */
    private static List<Row> rows(Plan plan) {
        List<Row> rows = new ArrayList<>();
        for (long bytes : plan.sizes().all()) {
            Layout layout = plan.collective().layout(bytes, ElementType.FLOAT, 2);
            double seconds = 9.125e-6 + bytes / 370e9;
            long wrong = bytes > 1 << 26 ? 1_234_567 : 0;
            Half outOfPlace = half(plan, layout, seconds, wrong);
            rows.add(new Row(
                    plan.series(2).get(0),
                    layout.bytes(),
                    layout.count(),
                    outOfPlace,
                    half(plan, layout, seconds * 0.97, 0)));
        }
        return rows;
    }

    private static Half half(Plan plan, Layout layout, double seconds, long wrong) {
        Bandwidth bandwidth = plan.collective().bandwidth(layout, 2, seconds);
        Optional<IterationTimes> iterations = plan.switches().perIteration()
                ? Optional.of(new IterationTimes(List.of(seconds * 3, seconds, seconds * 1.5), 1, List.of()))
                : Optional.empty();
        return new Half(seconds, bandwidth, OptionalLong.of(wrong), iterations);
    }

    private static String text(Plan plan, OptionalDouble required) {
        ResultTable table = new ResultTable(
                plan.switches().processorTime(),
                plan.switches().timestamps(),
                plan.switches().perIteration());
        List<String> lines = new ArrayList<>(RunText.head(plan, "0.1.0", 22105));
        lines.addAll(RunText.devices(RANKS));
        lines.addAll(table.headings());
        for (Row row : rows(plan)) {
            lines.add(table.lead(row.series(), row.bytes(), row.count())
                    + table.half(row.outOfPlace())
                    + table.half(row.inPlace())
                    + table.timestamp("2026-11-24 12:00:00"));
        }
        MemoryUse memory = new MemoryUse(1_234_567_890, 268_435_456, 0);
        lines.addAll(RunText.foot(plan, verdict(plan, required), memory));
        return String.join("\n", lines) + "\n";
    }

    private static Verdict verdict(Plan plan, OptionalDouble required) {
        List<Half> halves = new ArrayList<>();
        rows(plan).forEach(row -> halves.addAll(List.of(row.outOfPlace(), row.inPlace())));
        return Verdict.of(halves, 1, required);
    }

    private static void check(String name, String actual) throws IOException {
        Path file = FOLDER.resolve(name);
        if (Boolean.getBoolean("golden.update")) {
            Files.createDirectories(FOLDER);
            Files.writeString(file, actual);
        }
        assertThat(file).as("write it with -Dgolden.update=true").hasContent(actual);
        assertThat(actual).isEqualTo(Files.readString(file));
    }

    @Test
    void theTable() throws IOException {
        check("all_reduce.txt", text(plan(switches(false)), OptionalDouble.empty()));
        check("all_reduce-options.txt", text(plan(switches(true)), OptionalDouble.of(100)));
    }

    @Test
    void theJson() throws IOException {
        Plan plan = plan(switches(true));
        Facts facts = new Facts(
                "2026-11-24 12:00:00",
                "2026-11-24 12:00:09",
                List.of("bench", "all_reduce", "-g", "2"),
                Map.of("NCCL_DEBUG", "WARN", "CUDA_VISIBLE_DEVICES", "0,1", "AWS_SECRET_ACCESS_KEY", "hidden"),
                22105);
        Plan one = plan.limited(8);
        String json = Output.json(JsonReport.tree(
                facts, one, RANKS, rows(one), Optional.of(verdict(one, OptionalDouble.of(100))), List.of()));
        check("all_reduce.json", json + "\n");
        assertThat(json).doesNotContain("hidden");
    }

    @Test
    void thePicture() throws IOException {
        check("all_reduce.svg", BandwidthChart.svg("all_reduce <float>", rows(plan(switches(false)))));
    }

    @Test
    void aVerdictNeedsRightDataAndBandwidth() {
        Verdict fast = new Verdict(0, 95, OptionalDouble.of(100));
        assertThat(fast.exitCode()).isEqualTo(Verdict.OK);
        assertThat(new Verdict(0, 89.9, OptionalDouble.of(100)).exitCode()).isEqualTo(Verdict.FAILED);
        assertThat(new Verdict(0, Double.NaN, OptionalDouble.of(100)).exitCode())
                .isEqualTo(Verdict.FAILED);
        assertThat(new Verdict(1, 95, OptionalDouble.empty()).exitCode()).isEqualTo(Verdict.FAILED);
        assertThat(new Verdict(0, 0, OptionalDouble.empty()).exitCode()).isEqualTo(Verdict.OK);
    }
}
