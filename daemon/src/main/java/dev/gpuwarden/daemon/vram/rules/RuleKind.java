package dev.gpuwarden.daemon.vram.rules;

import dev.gpuwarden.cli.ByteSizes;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.watchdog.pressure.Trigger;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The form in which the value of a rule is written. */
enum RuleKind {
    BYTES("a size such as 512MiB or 2GiB", text -> ByteSizes.parse(text), value -> ByteSizes.text((Long) value)),
    SHARE("a share from 0 to 1 such as 0.1, or from 0% to 100%", RuleKind::share, String::valueOf),
    COUNT("a whole number from 0 to 999", RuleKind::count, String::valueOf),
    TIME("a duration such as 500ms or 10m, at most 365d", RuleKind::time, value -> Durations.text((Duration) value)),
    TRIGGERS(
            "a list of these, separated by + or commas: " + names(Set.of(Trigger.values())),
            RuleKind::triggers,
            RuleKind::names);

    private static final Pattern SHARE_TEXT = Pattern.compile("\\d{1,3}(\\.\\d{1,9})?%?");
    private static final Pattern COUNT_TEXT = Pattern.compile("\\d{1,3}");
    private static final Duration LONGEST = Duration.ofDays(365);

    private final String expected;
    private final Function<String, Object> parse;
    private final Function<Object, String> text;

    RuleKind(String expected, Function<String, Object> parse, Function<Object, String> text) {
        this.expected = expected;
        this.parse = parse;
        this.text = text;
    }

    String expected() {
        return expected;
    }

    /** Returns the value; empty where the text is none of this kind. */
    Optional<Object> parse(String value) {
        try {
            return Optional.of(parse.apply(value));
        } catch (RuntimeException notOfThisKind) {
            return Optional.empty();
        }
    }

    /** Returns the text that {@link #parse} reads back. */
    String text(Object value) {
        return text.apply(value);
    }

    private static Object share(String text) {
        require(SHARE_TEXT.matcher(text).matches());
        boolean percent = text.endsWith("%");
        double number = Double.parseDouble(percent ? text.substring(0, text.length() - 1) : text);
        double share = percent ? number / 100 : number;
        require(share <= 1);
        return share;
    }

    private static Object count(String text) {
        require(COUNT_TEXT.matcher(text).matches());
        return Integer.valueOf(text);
    }

    private static Object time(String text) {
        Duration time = Durations.parse(text);
        require(time.compareTo(LONGEST) <= 0);
        return time;
    }

    private static Object triggers(String text) {
        return Arrays.stream(text.split("[+,]", -1))
                .map(name -> Arrays.stream(Trigger.values())
                        .filter(trigger -> name(trigger).equals(name))
                        .findFirst()
                        .orElseThrow())
                .collect(Collectors.toUnmodifiableSet());
    }

    private static String names(Object triggers) {
        return Arrays.stream(Trigger.values())
                .filter(((Set<?>) triggers)::contains)
                .map(RuleKind::name)
                .collect(Collectors.joining(","));
    }

    private static String name(Trigger trigger) {
        return trigger.name().toLowerCase(Locale.ROOT);
    }

    private static void require(boolean good) {
        if (!good) {
            throw new IllegalArgumentException();
        }
    }
}
