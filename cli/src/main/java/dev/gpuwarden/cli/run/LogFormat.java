package dev.gpuwarden.cli.run;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.text.MessageFormat;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/** The form of a log line. Pure. */
enum LogFormat {
    /** `LEVEL part: message` */
    PLAIN,
    /** `TIME LEVEL part: message`, with the time in UTC. */
    TEXT,
    /** One JSON object a line. */
    JSON,
    /** `&lt;4&gt;part: message`: the journal adds the time, and reads the priority from the prefix (sd-daemon(3)). */
    JOURNALD;

    private static final String OURS = "dev.gpuwarden.";

    /** Returns one line, and for formats other than JSON a stack trace in further lines. It ends with a line break. */
    String line(LogRecord record, UnaryOperator<String> words) {
        String message = words.apply(message(record)).replaceAll("\\R", " ");
        Throwable thrown = record.getThrown();
        if (thrown != null && String.valueOf(record.getLoggerName()).startsWith("io.grpc.")) {
            // A client causes this, any number of times, and the trace is gRPC's own.
            message += ": " + thrown.toString().replaceAll("\\R", " ");
            thrown = null;
        }
        if (this == JSON) {
            return json(record, message, thrown) + "\n";
        }
        String text = part(record) + ": " + Table.escape(message) + "\n" + (thrown == null ? "" : trace(thrown));
        return switch (this) {
            case JOURNALD ->
                text.lines()
                        .map(line -> priority(record.getLevel()) + line + "\n")
                        .reduce("", String::concat);
            case TEXT -> time(record) + " " + level(record.getLevel()) + " " + text;
            case PLAIN, JSON -> level(record.getLevel()) + " " + text;
        };
    }

    private static String json(LogRecord record, String message, @org.jspecify.annotations.Nullable Throwable thrown) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("time", time(record));
        tree.put("level", level(record.getLevel()));
        tree.put("part", part(record));
        tree.put("message", message);
        if (thrown != null) {
            tree.put("trace", trace(thrown));
        }
        return Output.jsonLine(tree);
    }

    private static String message(LogRecord record) {
        String text = String.valueOf(record.getMessage());
        Object[] parameters = record.getParameters();
        if (parameters == null || parameters.length == 0) {
            return text;
        }
        try {
            return new MessageFormat(text, Locale.ROOT).format(parameters);
        } catch (IllegalArgumentException e) {
            return text;
        }
    }

    /** Returns the package of a gpuwarden class or the name of a library: class names do not help the reader of a log. */
    private static String part(LogRecord record) {
        String logger = String.valueOf(record.getLoggerName());
        String[] names = logger.split("\\.", -1);
        if (names.length < 3) {
            return Table.escape(logger);
        }
        return Table.escape(logger.startsWith(OURS) ? names[names.length - 2] : names[1]);
    }

    private static String time(LogRecord record) {
        Instant time = record.getInstant().truncatedTo(ChronoUnit.MILLIS);
        // Instant drops a fraction of zero, and the columns would not align.
        return time.getNano() == 0 ? time.toString().replace("Z", ".000Z") : time.toString();
    }

    private static String level(Level level) {
        if (level.intValue() >= Level.SEVERE.intValue()) {
            return "ERROR";
        } else if (level.intValue() >= Level.WARNING.intValue()) {
            return "WARNING";
        }
        return level.intValue() >= Level.INFO.intValue() ? "INFO" : "DEBUG";
    }

    private static String priority(Level level) {
        return switch (level(level)) {
            case "ERROR" -> "<3>";
            case "WARNING" -> "<4>";
            case "INFO" -> "<6>";
            default -> "<7>";
        };
    }

    private static String trace(Throwable thrown) {
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace));
        return trace.toString();
    }
}
