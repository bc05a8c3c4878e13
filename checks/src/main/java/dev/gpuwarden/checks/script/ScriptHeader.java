package dev.gpuwarden.checks.script;

import dev.gpuwarden.cli.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A script's settings in a comment near its beginning: {@code # gpuwarden: id=leak, every=60s, timeout=10s,
 * component=NODE}.
 *
 * @param problems defects of the header; a script with problems does not run
 */
record ScriptHeader(String id, String component, Duration every, Duration timeout, List<String> problems) {

    static final Pattern ID = Pattern.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*");
    private static final Pattern COMPONENT = Pattern.compile("[A-Z][A-Z0-9_]{0,31}");
    private static final Pattern LINE = Pattern.compile("^\\s*(?:#|//|;|--)\\s*gpuwarden:(.*)$");
    private static final int LONGEST_ID = 48;
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(1);

    /** @param fileName gives the ID if the header does not */
    static ScriptHeader of(String fileName, List<String> firstLines) {
        Reader reader = new Reader(idOf(fileName));
        for (String line : firstLines) {
            var header = LINE.matcher(line);
            if (header.matches()) {
                for (String setting : header.group(1).split(",")) {
                    reader.read(setting.strip());
                }
            }
        }
        return reader.header();
    }

    /** Returns the ID of a file name: "10_Link.Check.sh" becomes "link-check". */
    static String idOf(String fileName) {
        String stem = fileName.replaceFirst("\\.[A-Za-z0-9]+$", "");
        String id = stem.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^[^a-z]+|-+$", "");
        return id.isEmpty() ? "script" : id.length() > LONGEST_ID ? idOf(id.substring(0, LONGEST_ID)) : id;
    }

    private static final class Reader {
        private String id;
        private String component = "NODE";
        private Duration every = Duration.ofSeconds(60);
        private Duration timeout = Duration.ofSeconds(10);
        private final List<String> problems = new ArrayList<>();

        Reader(String id) {
            this.id = id;
        }

        void read(String setting) {
            String[] parts = setting.split("=", 2);
            String name = parts[0].strip();
            String value = parts.length == 2 ? parts[1].strip() : "";
            switch (name) {
                case "id" -> {
                    if (ID.matcher(value).matches() && value.length() <= LONGEST_ID) {
                        id = value;
                    } else {
                        wrong(name, "lower-case words with hyphens, at most " + LONGEST_ID + " characters", value);
                    }
                }
                case "component" -> {
                    if (COMPONENT.matcher(value).matches()) {
                        component = value;
                    } else {
                        wrong(name, "a word in capitals, such as GPU, NIC or NODE", value);
                    }
                }
                case "every" -> every = duration(name, value, every);
                case "timeout" -> timeout = duration(name, value, timeout);
                case "" -> {
                    if (parts.length == 2) {
                        wrong("a setting", "a name before its '='", value);
                    }
                }
                default ->
                    problems.add("its header has '" + CleanText.of(name, 40)
                            + "', expected id, every, timeout or component");
            }
        }

        private Duration duration(String name, String value, Duration otherwise) {
            try {
                Duration duration = Durations.parse(value);
                if (duration.compareTo(SHORTEST) >= 0 && duration.compareTo(LONGEST) <= 0) {
                    return duration;
                }
            } catch (picocli.CommandLine.TypeConversionException e) {
                // Reported below, as one that is out of range.
            }
            wrong(name, "a duration from 1s to 1d", value);
            return otherwise;
        }

        private void wrong(String name, String expected, String value) {
            problems.add(
                    "its header's " + name + ": expected " + expected + ", found '" + CleanText.of(value, 60) + "'");
        }

        ScriptHeader header() {
            return new ScriptHeader(id, component, every, timeout, List.copyOf(problems));
        }
    }
}
