package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.Durations;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import picocli.CommandLine;

/** A mapping whose keys are known. */
final class Fields {

    private final Yaml mapping;
    private final String subject;
    private final Map<String, Yaml> values = new HashMap<>();

    Fields(Yaml mapping, String subject, String... known) {
        this.mapping = mapping;
        this.subject = subject;
        List<String> names = List.of(known);
        for (Yaml.Entry entry : mapping.entries(subject)) {
            if (!names.contains(entry.key())) {
                throw Problem.unknown(entry.place(), subject, "a known key", entry.key(), names);
            }
            values.put(entry.key(), entry.value());
        }
    }

    Yaml mapping() {
        return mapping;
    }

    String subject(String key) {
        return subject + "." + key;
    }

    Optional<Yaml> get(String key) {
        return Optional.ofNullable(values.get(key));
    }

    Yaml require(String key) {
        return get(key).orElseThrow(() -> new Problem(mapping.place(), subject, "the key \"" + key + "\"", "none"));
    }

    String text(String key, String standard) {
        return get(key).map(y -> y.text(subject(key))).orElse(standard);
    }

    int number(String key, int standard, int min, int max) {
        return get(key).map(y -> number(y, subject(key), min, max)).orElse(standard);
    }

    static int number(Yaml yaml, String subject, int min, int max) {
        String text = yaml.text(subject);
        if (text.matches("\\d{1,9}")) {
            int number = Integer.parseInt(text);
            if (number >= min && number <= max) {
                return number;
            }
        }
        throw yaml.problem(subject, "a whole number from " + min + " to " + max);
    }

    boolean flag(String key, boolean standard) {
        return get(key).map(y -> parse(y, subject(key), Form.of("flag")).equals(Value.Numbers.of(1)))
                .orElse(standard);
    }

    /** One of a few words. */
    <E extends Enum<E>> E choice(String key, E standard, Class<E> type) {
        return get(key).map(y -> choice(y, subject(key), type)).orElse(standard);
    }

    private static <E extends Enum<E>> E choice(Yaml yaml, String subject, Class<E> type) {
        String text = yaml.text(subject);
        List<String> known = java.util.Arrays.stream(type.getEnumConstants())
                .map(Fields::word)
                .toList();
        int index = known.indexOf(text);
        if (index < 0) {
            throw Problem.unknown(yaml.place(), subject, "one of " + String.join(", ", known), text, known);
        }
        return type.getEnumConstants()[index];
    }

    /** A constant as scenarios write it. */
    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    Duration duration(String key, Duration standard) {
        return get(key).map(y -> duration(y, subject(key))).orElse(standard);
    }

    static Duration duration(Yaml yaml, String subject) {
        try {
            return Durations.parse(yaml.text(subject));
        } catch (CommandLine.TypeConversionException e) {
            throw yaml.problem(subject, "a time, for example 10s or 1m30s");
        }
    }

    /** A text that must match, for example a name. */
    String matching(String key, String standard, Pattern pattern, String expected) {
        return get(key).map(y -> {
                    String text = y.text(subject(key));
                    if (!pattern.matcher(text).matches()) {
                        throw y.problem(subject(key), expected);
                    }
                    return text;
                })
                .orElse(standard);
    }

    <T> Optional<T> map(String key, Function<Yaml, T> reader) {
        return get(key).map(reader);
    }

    /** "absent", or what the form says. A list stands for its items joined by "+". */
    static Value parse(Yaml yaml, String subject, Form form) {
        String text = yaml.isList()
                ? yaml.items(subject).stream()
                        .map(i -> i.text(subject))
                        .collect(java.util.stream.Collectors.joining("+"))
                : yaml.text(subject);
        if (text.equals("absent")) {
            return new Value.Absent();
        }
        return form.parse(text).orElseThrow(() -> yaml.problem(subject, form.expected() + ", or absent"));
    }
}
