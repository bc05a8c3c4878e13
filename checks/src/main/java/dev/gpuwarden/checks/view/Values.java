package dev.gpuwarden.checks.view;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.Unit;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** The form of single values in JSON and in tables. An absent value is an object or a word, never a number. */
public final class Values {

    /** More digits than any reading has, and fewer than show binary fractions. */
    private static final MathContext DIGITS = new MathContext(15);

    private Values() {}

    public static <T> Object tree(Reading<T> reading) {
        return tree(reading, v -> v);
    }

    public static <T> Object tree(Reading<T> reading, Function<? super T, ?> value) {
        if (reading instanceof Reading.Present<T> present) {
            return value.apply(present.value());
        }
        Reading.Absent<T> absent = (Reading.Absent<T>) reading;
        return absent(absent.cause(), absent.code(), absent.detail());
    }

    public static Map<String, Object> absent(Absence cause, int code, String detail) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("absent", cause.label());
        if (code != 0) {
            tree.put("code", code);
        }
        if (!detail.isEmpty()) {
            tree.put("detail", detail);
        }
        return tree;
    }

    /** Returns a raw value in its base unit, as a whole number if the unit needs no fraction. */
    public static Number base(Unit unit, long raw) {
        double one = unit.toBase(1);
        if (one == Math.rint(one)) {
            return raw * (long) one;
        }
        return new BigDecimal(unit.toBase(raw)).round(DIGITS).doubleValue();
    }

    /** Returns the text of a table's cell: the value, or its cause in few words. */
    public static <T> String cell(Reading<T> reading, Function<? super T, String> text) {
        if (reading instanceof Reading.Present<T> present) {
            return text.apply(present.value());
        }
        return words(((Reading.Absent<T>) reading).cause());
    }

    public static String words(Absence cause) {
        return cause.label().replace('_', ' ');
    }

    public static String gibibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f", bytes / (double) (1L << 30));
    }

    static BigDecimal roughSeconds(long nanos) {
        return new BigDecimal(nanos / 1e9).round(new MathContext(3));
    }
}
