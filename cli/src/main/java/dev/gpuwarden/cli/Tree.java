package dev.gpuwarden.cli;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Output as data: maps in their order, lists, strings, numbers, booleans and nulls. What JSON has no word for is settled here,
 * once for all formats.
 */
final class Tree {

    private Tree() {}

    /**
     * The same tree of nothing but {@code Map<String, …>}, {@code List}, {@code String}, {@code Boolean}, {@link Number text}
     * and null. Infinite numbers and NaN become null, since neither format can be read back with them everywhere; halves of
     * surrogate pairs become U+FFFD, since they are no characters.
     */
    static @Nullable Object normal(@Nullable Object node) {
        if (node instanceof Map<?, ?> map) {
            Map<String, @Nullable Object> normal = new LinkedHashMap<>();
            map.forEach((key, value) -> normal.put(wellFormed(String.valueOf(key)), normal(value)));
            return normal;
        }
        if (node instanceof Iterable<?> list && !(node instanceof java.nio.file.Path)) {
            List<@Nullable Object> normal = new ArrayList<>();
            list.forEach(item -> normal.add(normal(item)));
            return normal;
        }
        if (node instanceof Optional<?> optional) {
            return normal(optional.orElse(null));
        }
        if (node instanceof Number number) {
            return number(number);
        }
        return node == null || node instanceof Boolean ? node : wellFormed(node.toString());
    }

    /** A number as it is written in both formats. */
    record Numeral(String text) {}

    private static @Nullable Numeral number(Number number) {
        if (number instanceof Double || number instanceof Float) {
            double value = number.doubleValue();
            if (Double.isNaN(value) || Double.isInfinite(value)) {
                return null;
            }
            return new Numeral(decimal(new BigDecimal(number.toString())));
        }
        if (number instanceof BigDecimal decimal) {
            return new Numeral(decimal(decimal));
        }
        if (number instanceof BigInteger integer) {
            return new Numeral(integer.toString());
        }
        return new Numeral(Long.toString(number.longValue()));
    }

    /** Plain digits where that stays short; an exponent with sign and fraction otherwise, as readers of YAML 1.1 want it. */
    private static String decimal(BigDecimal value) {
        int magnitude = value.precision() - value.scale();
        if (value.signum() == 0 || magnitude > -5 && magnitude < 22) {
            return value.toPlainString();
        }
        return String.format(
                        Locale.ROOT,
                        "%s",
                        value.round(java.math.MathContext.DECIMAL64).unscaledValue()) + ".0E"
                + String.format(
                        Locale.ROOT,
                        "%+d",
                        -value.round(java.math.MathContext.DECIMAL64).scale());
    }

    private static String wellFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return replaceHalves(text);
            }
        }
        return text;
    }

    private static String replaceHalves(String text) {
        StringBuilder whole = new StringBuilder(text.length());
        text.codePoints().forEach(c -> whole.appendCodePoint(Character.getType(c) == Character.SURROGATE ? 0xfffd : c));
        return whole.toString();
    }
}
