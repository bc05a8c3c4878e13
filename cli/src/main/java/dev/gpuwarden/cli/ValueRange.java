package dev.gpuwarden.cli;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The {@link Bounds} of an option, for the parser, the help and the reference. */
public final class ValueRange {

    private static final String DEFAULT = "(default";

    private final Bounds bounds;

    private ValueRange(Bounds bounds) {
        this.bounds = bounds;
    }

    /** Returns the range of an option; empty if it has none. */
    public static Optional<ValueRange> of(OptionSpec option) {
        return option.userObject() instanceof Field field
                ? Optional.ofNullable(field.getAnnotation(Bounds.class)).map(ValueRange::new)
                : Optional.empty();
    }

    /** Returns the description of an option with its range, if it has one. */
    public static String[] description(OptionSpec option) {
        String[] lines = option.description().clone();
        Optional<ValueRange> range = of(option);
        if (range.isPresent() && lines.length > 0) {
            String last = lines[lines.length - 1];
            int end = last.lastIndexOf(DEFAULT);
            lines[lines.length - 1] = end < 0
                    ? last + " (" + range.get() + ")"
                    : last.substring(0, end) + "(" + range.get() + "; " + last.substring(end + 1);
        }
        return lines;
    }

    /** Returns the option with the description that has its range. */
    static OptionSpec described(OptionSpec option) {
        return of(option).isEmpty()
                ? option
                : OptionSpec.builder(option).description(description(option)).build();
    }

    /** Returns what is wrong with the value that an option has now; empty if nothing is, or if it has none. */
    static Optional<String> problem(OptionSpec option) {
        Object value = option.getValue();
        return value == null
                ? Optional.empty()
                : of(option)
                        .filter(range -> !range.contains(value))
                        .map(range -> ": expected " + range + ", found " + text(value, range.bounds.from()));
    }

    private boolean contains(Object value) {
        return value instanceof Duration time
                ? isWithin(
                        time,
                        Durations.parse(bounds.from()),
                        bounds.to().isEmpty() ? time : Durations.parse(bounds.to()))
                : isWithin(
                        number(value),
                        number(bounds.from()),
                        bounds.to().isEmpty() ? number(value) : number(bounds.to()));
    }

    private static <T extends Comparable<T>> boolean isWithin(T value, T from, T to) {
        return value.compareTo(from) >= 0 && value.compareTo(to) <= 0;
    }

    private static Long number(Object value) {
        String text = value.toString();
        return text.endsWith("B") ? ByteSizes.parse(text) : Long.parseLong(text);
    }

    private static String text(Object value, String like) {
        if (value instanceof Duration time) {
            return Durations.text(time);
        }
        return like.endsWith("B") ? ByteSizes.text(number(value)) : value.toString();
    }

    /** Returns the range as text, such as `10s to 7d`. */
    @Override
    public String toString() {
        return bounds.to().isEmpty() ? "at least " + bounds.from() : bounds.from() + " to " + bounds.to();
    }
}
