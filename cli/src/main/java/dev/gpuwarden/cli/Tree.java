package dev.gpuwarden.cli;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Output as data: maps in order, lists, strings, numbers, booleans and nulls. Values that JSON cannot express are
 * converted here, once for all formats.
 */
final class Tree {

    private Tree() {}

    /**
     * Returns the same tree with {@code Map<String, …>}, {@code List}, {@code String}, {@code Boolean}, {@code Number}
     * and null alone. Infinite numbers and NaN become null, since not every reader accepts them. Halves of surrogate
     * pairs become U+FFFD, since they are no characters.
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

    /** Returns whole numbers as {@code Long} or {@code BigInteger}, others as {@code BigDecimal}. */
    private static @Nullable Number number(Number number) {
        if (number instanceof Double || number instanceof Float) {
            double value = number.doubleValue();
            return Double.isNaN(value) || Double.isInfinite(value) ? null : new BigDecimal(number.toString());
        }
        return number instanceof BigDecimal || number instanceof BigInteger ? number : Long.valueOf(number.longValue());
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
