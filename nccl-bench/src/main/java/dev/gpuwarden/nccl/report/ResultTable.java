package dev.gpuwarden.nccl.report;

import static dev.gpuwarden.nccl.report.NumberText.column;
import static dev.gpuwarden.nccl.report.NumberText.general;
import static dev.gpuwarden.nccl.report.NumberText.right;

import dev.gpuwarden.nccl.plan.Plan.Series;
import dev.gpuwarden.nccl.report.Row.Half;
import java.util.ArrayList;
import java.util.List;

/** The table of nccl-tests 2.19, byte for byte: headings, and rows in parts as they become known. */
public record ResultTable(boolean processorTime, boolean timestamps, boolean perIteration) {

    private static final int TIMESTAMP_WIDTH = 19;

    /** Returns the lines of the headings. */
    public List<String> headings() {
        String time = processorTime ? "cputime" : "time";
        String lead = "# " + right("", 10) + "  " + right("", 12) + "  " + right("", 8) + "  " + right("", 6) + "  "
                + right("", 6);
        return List.of(
                "#",
                lead
                        + (perIteration
                                ? "              out-of-place (+ per-iteration)                                in-place (+ per-iteration)"
                                : "           out-of-place                       in-place          "),
                heading("size", "count", "type", "redop", "root", time, "algbw", "busbw", "#wrong", "timestamp"),
                heading("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "%Y-%m-%d %H:%M:%S"));
    }

    private String heading(
            String size,
            String count,
            String type,
            String operator,
            String root,
            String time,
            String algorithm,
            String bus,
            String wrong,
            String timestamp) {
        List<String> half =
                new ArrayList<>(List.of(right(time, 7), right(algorithm, 6), right(bus, 6), right(wrong, 6)));
        if (perIteration) {
            List<String> names = wrong.isEmpty()
                    ? List.of("(us)", "(us)", "(us)", "(%)")
                    : List.of("i_min", "i_max", "i_p99", "i_cv%");
            names.forEach(name -> half.add(right(name, 7)));
        }
        String both = String.join("  ", half);
        return "# " + right(size, 10) + "  " + right(count, 12) + "  " + right(type, 8) + "  " + right(operator, 6)
                + "  " + right(root, 6) + "  " + both + "  " + both + " "
                + (timestamps ? right(timestamp, TIMESTAMP_WIDTH) : "");
    }

    /** Returns the beginning of a row. */
    public String lead(Series series, long bytes, long count) {
        return right(bytes, 12) + "  " + right(count, 12) + "  "
                + right(series.type().label(), 8) + "  "
                + right(series.operator().label(), 6) + "  " + right(series.root(), 6);
    }

    /** Returns the next part of a row. */
    public String half(Half half) {
        StringBuilder text = new StringBuilder()
                .append("  ")
                .append(column(half.seconds() * 1e6, 7))
                .append("  ")
                .append(column(half.bandwidth().algorithm(), 6))
                .append("  ")
                .append(column(half.bandwidth().bus(), 6))
                .append(
                        half.wrong().isPresent()
                                ? "  " + right(general(half.wrong().getAsLong()), 6)
                                : "    N/A");
        half.iterations().ifPresent(times -> {
            IterationStats stats = JsonReport.statistics(times);
            for (double value : new double[] {stats.least(), stats.most(), stats.p99(), stats.deviationPercent()}) {
                text.append("  ").append(column(value, 7));
            }
        });
        return text.toString();
    }

    /** Returns the end of a row, where rows have a time. */
    public String timestamp(String now) {
        return timestamps ? right(now, TIMESTAMP_WIDTH + 2) : "";
    }
}
