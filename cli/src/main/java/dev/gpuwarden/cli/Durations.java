package dev.gpuwarden.cli;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.TypeConversionException;

/** A converter of durations with a unit: `15s`, `500ms`, `1h30m`. */
public final class Durations {

    private static final Pattern PART = Pattern.compile("(\\d{1,12})(ms|s|m|h|d)");
    private static final List<String> UNITS = List.of("d", "h", "m", "s", "ms");
    private static final long[] MILLIS = {86_400_000, 3_600_000, 60_000, 1_000, 1};

    private Durations() {}

    /**
     * Parses a duration. Every {@link Duration} option is read by this method.
     *
     * @throws TypeConversionException where the text is no duration; a number without a unit is none
     */
    public static Duration parse(String text) {
        return find(text)
                .orElseThrow(() ->
                        new TypeConversionException("'" + text + "' is not a duration such as 500ms, 15s or 1h30m"));
    }

    /** Returns the duration; empty where the text is none. */
    public static Optional<Duration> find(String text) {
        if (text.equals("0")) {
            return Optional.of(Duration.ZERO);
        }
        Duration sum = Duration.ZERO;
        Matcher part = PART.matcher(text);
        int end = 0;
        while (part.find() && part.start() == end) {
            long amount = Long.parseLong(part.group(1));
            sum = sum.plus(
                    Duration.ofMillis(MILLIS[UNITS.indexOf(part.group(2))]).multipliedBy(amount));
            end = part.end();
        }
        return end == 0 || end != text.length() ? Optional.empty() : Optional.of(sum);
    }

    /** Returns the shortest text that {@link #parse} reads back, in whole milliseconds. */
    public static String text(Duration duration) {
        long millis = duration.toMillis();
        if (millis == 0) {
            return "0s";
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < MILLIS.length; i++) {
            if (millis >= MILLIS[i]) {
                text.append(millis / MILLIS[i]).append(UNITS.get(i));
                millis %= MILLIS[i];
            }
        }
        return text.toString();
    }
}
