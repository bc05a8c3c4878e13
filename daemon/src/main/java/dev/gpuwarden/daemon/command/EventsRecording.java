package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.MathContext;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A flight recording as stored: gpuwarden.recording/v1, see docs/reference/recording-json.md. Keys of a newer daemon are kept; a
 * value of an unexpected type counts as missing.
 */
record EventsRecording(Map<String, @Nullable Object> tree) {

    /** The bound on an unpacked recording; sixteen GPUs at ten samples a second need about a tenth of it. */
    private static final int MOST_BYTES = 32 << 20;

    private static final JsonReader READER =
            JsonReader.ofDepth(16).withExactNumbers().withNulls();

    /** The columns, in seconds from the event. */
    private static final List<Integer> COLUMNS = List.of(-60, -30, -10, -5, -1, 0, 5, 10, 30);

    private static final int MOST_LINES = 20;

    /** One GPU's values by the names of their readings; null where there was no sample or no value. */
    record Lane(String gpu, Map<String, List<@Nullable Object>> series) {}

    record Line(String time, String text) {}

    record Process(String pid, String name, String owner, Object usedBytes) {}

    /** @throws IOException if it is not a recording */
    static EventsRecording read(byte[] gzip) throws IOException {
        byte[] json;
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(gzip))) {
            json = in.readNBytes(MOST_BYTES + 1);
        }
        if (json.length > MOST_BYTES) {
            throw new IOException("more than " + MOST_BYTES + " bytes");
        }
        return new EventsRecording(READER.readObject(json));
    }

    boolean complete() {
        return JsonTrees.isTrue(tree, "complete");
    }

    /** Returns the seconds from the event, for each column. */
    List<Double> times() {
        return list(tree.get("times")).stream()
                .map(time -> time instanceof Number number ? number.doubleValue() : Double.NaN)
                .toList();
    }

    /** Returns the GPUs that the event is about. */
    List<Lane> concerned() {
        List<Lane> lanes = new ArrayList<>();
        for (Map<String, Object> gpu : JsonTrees.objects(tree, "gpus")) {
            if (JsonTrees.isTrue(gpu, "concerned") && gpu.get("series") instanceof Map<?, ?> series) {
                Map<String, List<@Nullable Object>> rows = new LinkedHashMap<>();
                series.forEach((name, row) -> rows.put(String.valueOf(name), list(row)));
                lanes.add(new Lane("GPU " + gpu.get("index"), rows));
            }
        }
        return lanes;
    }

    List<Line> kernel() {
        return JsonTrees.objects(tree, "kernel").stream()
                .map(line -> new Line(String.valueOf(line.get("time")), String.valueOf(line.get("text"))))
                .toList();
    }

    List<Process> processes() {
        return JsonTrees.objects(tree, "processes").stream()
                .map(process -> new Process(
                        String.valueOf(process.get("pid")),
                        process.get("name") instanceof String name ? name : "?",
                        String.valueOf(process.get("owner")),
                        process.get("usedBytes") instanceof Number bytes ? bytes : "?"))
                .toList();
    }

    private static List<@Nullable Object> list(@Nullable Object value) {
        return value instanceof List<?> list ? new ArrayList<>(list) : List.of();
    }

    void print(ZoneId zone, PrintWriter out) {
        for (Lane lane : concerned()) {
            out.println();
            readings(lane, times(), out);
        }
        List<Process> processes = processes();
        if (!processes.isEmpty()) {
            out.println();
            Table table = new Table("PID", "PROCESS", "OWNER", "MEMORY");
            processes.forEach(process -> table.row(
                    process.pid(),
                    process.name(),
                    process.owner(),
                    process.usedBytes() instanceof Number bytes ? Values.gibibytes(bytes.longValue()) + " GiB" : "?"));
            table.print(out);
        }
        kernel(kernel(), zone, out);
        if (!complete()) {
            out.println();
            out.println("The recording is not complete yet; it ends 30 s after the event.");
        }
    }

    /** Prints the readings. It leaves out readings that were always absent and times without values. */
    private static void readings(Lane lane, List<Double> times, PrintWriter out) {
        Map<String, List<String>> rows = new LinkedHashMap<>();
        lane.series().forEach((name, row) -> {
            if (row.stream().anyMatch(Number.class::isInstance)) {
                rows.put(
                        name,
                        COLUMNS.stream()
                                .map(seconds -> near(times, row, seconds).map(EventsRecording::number))
                                .map(text -> text.orElse("-"))
                                .toList());
            }
        });
        List<Integer> columns = IntStream.range(0, COLUMNS.size())
                .filter(i -> rows.values().stream().anyMatch(row -> !row.get(i).equals("-")))
                .boxed()
                .toList();
        Table table =
                new Table(Stream.concat(Stream.of(lane.gpu()), columns.stream().map(i -> header(COLUMNS.get(i))))
                        .toArray(String[]::new));
        rows.forEach((name, row) -> table.row(
                Stream.concat(Stream.of(name), columns.stream().map(row::get)).toArray()));
        table.print(out);
    }

    private static String header(int seconds) {
        return (seconds > 0 ? "+" : "") + seconds + "s";
    }

    /** Returns the value nearest to that time, if one is near enough and on the same side of the event. */
    static Optional<Number> near(List<Double> times, List<@Nullable Object> row, int seconds) {
        Optional<Number> best = Optional.empty();
        double least = Math.max(1.5, Math.abs(seconds) / 5.0) + 1e-6;
        for (int i = 0; i < Math.min(times.size(), row.size()); i++) {
            double distance = Math.abs(times.get(i) - seconds);
            boolean side = seconds >= 0 == times.get(i) >= 0;
            if (side && distance < least && row.get(i) instanceof Number value) {
                best = Optional.of(value);
                least = distance;
            }
        }
        return best;
    }

    /** Returns whole numbers unchanged, others with four digits. */
    private static String number(Number number) {
        BigDecimal value = new BigDecimal(number.toString());
        BigDecimal short4 = value.remainder(BigDecimal.ONE).signum() == 0 ? value : value.round(new MathContext(4));
        return short4.stripTrailingZeros().toPlainString();
    }

    private static void kernel(List<Line> lines, ZoneId zone, PrintWriter out) {
        if (lines.isEmpty()) {
            return;
        }
        out.println();
        out.println("kernel log"
                + (lines.size() > MOST_LINES ? " (the last " + MOST_LINES + " of " + lines.size() + ")" : ""));
        for (Line line : lines.subList(Math.max(0, lines.size() - MOST_LINES), lines.size())) {
            out.println("  " + Table.escape(time(line.time(), zone)) + "  " + Table.escape(line.text()));
        }
    }

    private static String time(String text, ZoneId zone) {
        try {
            return ClientTimes.local(Instant.parse(text), zone);
        } catch (DateTimeException e) {
            return text;
        }
    }
}
