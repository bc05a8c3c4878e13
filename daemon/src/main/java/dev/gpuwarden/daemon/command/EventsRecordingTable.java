package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Table;
import dev.gpuwarden.daemon.command.EventsRecording.Lane;
import dev.gpuwarden.daemon.view.Values;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.MathContext;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The most useful part of a recording around an event. */
final class EventsRecordingTable {

    /** The columns, in seconds from the event. */
    private static final List<Integer> COLUMNS = List.of(-60, -30, -10, -5, -1, 0, 5, 10, 30);

    private static final int MOST_LINES = 20;

    private EventsRecordingTable() {}

    static void print(EventsRecording recording, ZoneId zone, PrintWriter out) {
        for (Lane lane : recording.concerned()) {
            out.println();
            readings(lane, recording.times(), out);
        }
        List<EventsRecording.Process> processes = recording.processes();
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
        kernel(recording.kernel(), zone, out);
        if (!recording.complete()) {
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
                                .map(seconds -> near(times, row, seconds).map(EventsRecordingTable::number))
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

    private static void kernel(List<EventsRecording.Line> lines, ZoneId zone, PrintWriter out) {
        if (lines.isEmpty()) {
            return;
        }
        out.println();
        out.println("kernel log"
                + (lines.size() > MOST_LINES ? " (the last " + MOST_LINES + " of " + lines.size() + ")" : ""));
        for (EventsRecording.Line line : lines.subList(Math.max(0, lines.size() - MOST_LINES), lines.size())) {
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
