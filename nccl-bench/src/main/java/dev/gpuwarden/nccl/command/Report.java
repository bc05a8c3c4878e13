package dev.gpuwarden.nccl.command;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.nccl.plan.Plan;
import dev.gpuwarden.nccl.plan.Plan.Series;
import dev.gpuwarden.nccl.report.BandwidthChart;
import dev.gpuwarden.nccl.report.JsonReport;
import dev.gpuwarden.nccl.report.ResultTable;
import dev.gpuwarden.nccl.report.Row;
import dev.gpuwarden.nccl.report.RunText;
import dev.gpuwarden.nccl.report.Verdict;
import dev.gpuwarden.nccl.run.Bench;
import dev.gpuwarden.nccl.run.Bench.Devices;
import dev.gpuwarden.nccl.run.Failure;
import dev.gpuwarden.nccl.run.RowListener;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.time.Clock;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** The output of a run: the table while it grows, and files at the end. */
final class Report {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    private final PrintWriter out;
    private final Clock clock;
    private final BenchOptions options;
    private final List<Row> rows = new ArrayList<>();
    private Optional<Verdict> verdict = Optional.empty();

    /** @param options of a process that writes files; else without files */
    Report(PrintWriter out, Clock clock, BenchOptions options) {
        this.out = out;
        this.clock = clock;
        this.options = options;
    }

    int exitCode() {
        return verdict.orElseThrow().exitCode();
    }

    /** Runs the benchmark, and returns its failure. */
    Optional<Failure> run(
            Bench bench,
            OptionalInt firstGpu,
            int ncclVersion,
            OptionalDouble required,
            String version,
            List<String> arguments,
            Map<String, String> environment)
            throws IOException, CollectiveException {
        Optional<ResultFile> file = ResultFile.create(Optional.ofNullable(options.json), out);
        String started = now();
        Devices devices = bench.devices(firstGpu);
        Plan plan = devices.plan();
        print(RunText.head(bench.plan(), version, ncclVersion));
        print(RunText.devices(devices.ranks()));
        if (plan.sizes().most() < bench.plan().sizes().most()) {
            print(RunText.reduced(plan.sizes().most()));
        }
        devices.groups()
                .refused(plan.collective())
                .ifPresent(size -> print(List.of("nRanks " + size + " is not a power of 2, skipping")));
        ResultTable table = new ResultTable(
                plan.switches().processorTime(),
                plan.switches().timestamps(),
                plan.switches().perIteration());
        print(table.headings());
        Bench.Outcome outcome = bench.run(devices, new Printer(table));
        Optional<Failure> failure = Optional.empty();
        if (outcome instanceof Bench.Outcome.Done done) {
            Verdict reached = Verdict.of(
                    rows.stream()
                            .flatMap(row -> Stream.of(row.outOfPlace(), row.inPlace()))
                            .toList(),
                    done.outOfBounds(),
                    required);
            verdict = Optional.of(reached);
            print(RunText.foot(plan, reached, done.memory()));
        } else {
            failure = Optional.of(((Bench.Outcome.Failed) outcome).failure());
            out.println();
            out.flush();
        }
        List<String> errors = failure.map(Failure::message).stream().toList();
        JsonReport.Facts facts = new JsonReport.Facts(started, now(), arguments, environment, ncclVersion);
        if (file.isPresent()) {
            file.get().write(Output.json(JsonReport.tree(facts, plan, devices.ranks(), rows, verdict, errors)) + "\n");
        }
        if (options.picture != null && !rows.isEmpty()) {
            Files.writeString(options.picture, BandwidthChart.svg(title(plan, devices), firstSeries()));
        }
        return failure;
    }

    private String title(Plan plan, Devices devices) {
        Series series = rows.get(0).series();
        int groups = devices.groups().leaders().size();
        return plan.collective().label() + ", " + series.type().label() + ", "
                + series.operator().label() + ", " + devices.ranks().size() + " ranks "
                + (groups > 1 ? "in " + groups + " groups " : "") + "on "
                + devices.ranks().get(0).gpuName();
    }

    /** A picture has one line for each kind of buffer, so it shows one series. */
    private List<Row> firstSeries() {
        return rows.stream()
                .filter(row -> row.series().equals(rows.get(0).series()))
                .toList();
    }

    private String now() {
        return TIME.format(LocalDateTime.now(clock));
    }

    private void print(List<String> lines) {
        lines.forEach(line -> out.print(line + "\n"));
        out.flush();
    }

    /** The rows, each part as soon as it is known. */
    private final class Printer implements RowListener {

        private final ResultTable table;

        Printer(ResultTable table) {
            this.table = table;
        }

        @Override
        public void started(Series series, long bytes, long count) {
            part(table.lead(series, bytes, count));
        }

        @Override
        public void measured(Row.Half half) {
            part(table.half(half));
        }

        @Override
        public void ended(Row row) {
            rows.add(row);
            part(table.timestamp(now()) + "\n");
        }

        private void part(String text) {
            out.print(text);
            out.flush();
        }
    }
}
