package dev.gpuwarden.checks.script;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.FieldReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The common part of both kinds of node-problem-detector's configuration. Like there, unknown fields are ignored, and an
 * invalid file stops the program at its start.
 *
 * @param source the file's own name for itself
 * @param conditions by type, the condition while there is no problem
 */
record NpdConfig(Path file, String source, Map<String, Healthy> conditions, FieldReader json) {

    private static final int LARGEST = 1024 * 1024;

    private static final Pattern PART = Pattern.compile("(\\d{1,9}(?:\\.\\d{0,9})?)(ns|us|µs|μs|ms|s|m|h)");

    private static final Map<String, Double> SECONDS =
            Map.of("ns", 1e-9, "us", 1e-6, "µs", 1e-6, "μs", 1e-6, "ms", 1e-3, "s", 1.0, "m", 60.0, "h", 3600.0);

    /** Node-problem-detector's reason and message while there is no problem. */
    record Healthy(String reason, String message) {}

    /** @param plugins kinds of source that the file may have */
    static NpdConfig read(Path file, List<String> plugins) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(LARGEST + 1);
            if (bytes.length > LARGEST) {
                throw new IOException("it is larger than 1 MiB");
            }
            FieldReader json = ScriptVerdict.json(new String(bytes, StandardCharsets.UTF_8));
            String plugin = json.textOrEmpty("plugin");
            if (!plugins.contains(plugin)) {
                throw new IOException("plugin: expected " + String.join(" or ", plugins) + ", found '"
                        + CleanText.of(plugin, 60) + "'" + hint(plugin));
            }
            Map<String, Healthy> conditions = new LinkedHashMap<>();
            for (FieldReader condition : json.objects("conditions")) {
                conditions.put(
                        word(condition, "type"),
                        new Healthy(condition.textOrEmpty("reason"), condition.textOrEmpty("message")));
            }
            return new NpdConfig(file, word(json, "source"), conditions, json);
        } catch (IOException e) {
            throw wrong(file, e);
        }
    }

    private static String hint(String plugin) {
        return switch (plugin) {
            case "custom" -> ", which --npd.plugin accepts";
            case "kmsg", "journald", "filelog" -> ", which --npd.log-monitor accepts";
            default -> "";
        };
    }

    static UserError wrong(Path file, IOException e) {
        String what = FileErrors.why(e);
        return new UserError(file + ": " + CleanText.of(what, 400));
    }

    /** Returns the rule's condition; empty for a temporary problem, which has none. */
    Optional<String> condition(FieldReader rule) throws IOException {
        String type = rule.textOrEmpty("type");
        if (type.equals("temporary")) {
            return Optional.empty();
        }
        if (!type.equals("permanent")) {
            throw new IOException(
                    "a rule's type: expected temporary or permanent, found '" + CleanText.of(type, 60) + "'");
        }
        String condition = word(rule, "condition");
        if (!conditions.containsKey(condition)) {
            throw new IOException("a rule's condition " + CleanText.of(condition, 60) + " is not among the conditions");
        }
        return Optional.of(condition);
    }

    /** Returns a required text that becomes a name. */
    static String word(FieldReader json, String field) throws IOException {
        String word = json.textOrEmpty(field);
        if (!word.matches("[A-Za-z0-9][A-Za-z0-9._/ -]{0,99}")) {
            throw new IOException(field + ": expected a name, found '" + CleanText.of(word, 60) + "'");
        }
        return word;
    }

    static Duration duration(FieldReader json, String field, Duration otherwise) throws IOException {
        Optional<String> text = json.optionalText(field);
        if (text.isEmpty()) {
            return otherwise;
        }
        return parse(text.get())
                .filter(duration -> !duration.isZero())
                .orElseThrow(() -> new IOException(
                        field + ": expected a duration such as 30s, found '" + CleanText.of(text.get(), 60) + "'"));
    }

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
