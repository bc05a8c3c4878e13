package dev.gpuwarden.daemon.script;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations in the format of Go's time.ParseDuration: "86400s", "1h30m", "1.5h". */
final class GoDuration {

    private static final Pattern PART = Pattern.compile("(\\d{1,9}(?:\\.\\d{0,9})?)(ns|us|µs|μs|ms|s|m|h)");

    private static final Map<String, Double> SECONDS =
            Map.of("ns", 1e-9, "us", 1e-6, "µs", 1e-6, "μs", 1e-6, "ms", 1e-3, "s", 1.0, "m", 60.0, "h", 3600.0);

    private GoDuration() {}

    /** Returns the duration; empty for any other text. */
    static Optional<Duration> parse(String text) {
        if (text.equals("0")) {
            return Optional.of(Duration.ZERO);
        }
        Matcher part = PART.matcher(text);
        int end = 0;
        double seconds = 0;
        while (part.find() && part.start() == end) {
            seconds += Double.parseDouble(part.group(1)) * SECONDS.getOrDefault(part.group(2), 0.0);
            end = part.end();
        }
        return end == 0 || end != text.length()
                ? Optional.empty()
                : Optional.of(Duration.ofMillis(Math.round(seconds * 1000)));
    }
}
