package dev.gpuwarden.aggregator.cel;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.Collection;
import java.util.Map;

/** What a function of CEL costs with these arguments, at most, before it is called. Pure. */
final class Prices {

    /** A character that is made takes memory, which is scarcer than time. */
    static final long CREATED = 4;

    /** Java looks for a text in another so many characters at a time, at best. */
    private static final long SEARCHED_AT_ONCE = 16;

    private Prices() {}

    /**
     * @param function as CEL names it, operators as `_+_`
     * @param most beyond which it need not be known
     */
    static long of(String function, Object[] arguments, long most) {
        return switch (function) {
            case "replace" -> replace(arguments);
            case "join" -> join(arguments);
            case "matches" -> size(arguments[0]) * (1 + program(arguments[1])) / 2;
            case "contains", "indexOf", "lastIndexOf" -> search(size(arguments[0]), size(arguments[1]));
            case "_==_", "_!=_" -> Math.min(deep(arguments[0], most), deep(arguments[1], most));
            case "@in", "in" -> in(arguments, most);
            case "_+_" -> CREATED * (size(arguments[0]) + deep(arguments[1], most));
            case "_[_]" -> 1;
            case "split",
                    "lowerAscii",
                    "upperAscii",
                    "quote",
                    "strings.quote",
                    "reverse",
                    "substring",
                    "trim",
                    "charAt" -> CREATED * size(arguments[0]);
            default -> all(arguments);
        };
    }

    private static long replace(Object[] arguments) {
        long text = size(arguments[0]);
        long found = text / Math.max(1, size(arguments[1])) + 1;
        return CREATED * (text + found * size(arguments[2]));
    }

    private static long join(Object[] arguments) {
        long separator = arguments.length > 1 ? size(arguments[1]) : 0;
        long sum = 0;
        if (arguments[0] instanceof Collection<?> items) {
            for (Object item : items) {
                sum += size(item) + separator;
            }
        }
        return CREATED * sum;
    }

    private static long search(long text, long wanted) {
        return text + wanted + text * wanted / SEARCHED_AT_ONCE;
    }

    /** The steps that a pattern takes for a character: with repetitions that are counted, which are written out, not its length. */
    private static long program(Object pattern) {
        String text = String.valueOf(pattern);
        if (text.indexOf('{') < 0) {
            return text.length();
        }
        try {
            return Pattern.compile(text).programSize();
        } catch (PatternSyntaxException e) {
            // The function itself reports it.
            return text.length();
        }
    }

    private static long in(Object[] arguments, long most) {
        return arguments[1] instanceof Map<?, ?> ? 1 : size(arguments[1]) * (1 + deep(arguments[0], most));
    }

    private static long all(Object[] arguments) {
        long sum = 0;
        for (Object argument : arguments) {
            sum += argument instanceof CharSequence text ? text.length() : 1;
        }
        return sum;
    }

    /** Characters of a text, entries of a list or map. */
    private static long size(Object value) {
        if (value instanceof CharSequence text) {
            return text.length();
        }
        if (value instanceof Collection<?> items) {
            return items.size();
        }
        return value instanceof Map<?, ?> map ? map.size() : 1;
    }

    /** With all that is in it, as far as it matters. */
    private static long deep(Object value, long most) {
        if (value instanceof Map<?, ?> map) {
            long sum = 1;
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                sum += deep(entry.getKey(), most) + deep(entry.getValue(), most - sum);
                if (sum > most) {
                    break;
                }
            }
            return sum;
        }
        if (value instanceof Collection<?> items) {
            long sum = 1;
            for (Object item : items) {
                sum += deep(item, most - sum);
                if (sum > most) {
                    break;
                }
            }
            return sum;
        }
        return size(value);
    }
}
