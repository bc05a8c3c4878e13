package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.core.util.Text;
import java.util.List;
import java.util.Map;

/** Texts of strangers as they may stand in a resource, which kubectl prints as it is. */
public final class ShownText {

    private ShownText() {}

    /** Nothing that a terminal would act on, and at most so many characters. Applied twice it changes nothing more. */
    public static String cut(String given, int most) {
        String text = given.chars().allMatch(c -> c >= ' ' && c <= '~')
                ? given
                : given.replaceAll("[\\p{Cntrl}\\p{Cf}\\u2028\\u2029]", " ");
        return Text.truncate(text, most);
    }

    /** How long a tree is at most as JSON of Go, which writes `<`, `>` and `&` as six characters. */
    public static long bytes(Object tree) {
        if (tree instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .mapToLong(entry -> bytes(entry.getKey()) + bytes(entry.getValue()) + 2)
                    .sum();
        }
        if (tree instanceof List<?> list) {
            return list.stream().mapToLong(item -> bytes(item) + 1).sum();
        }
        return 2 + String.valueOf(tree).chars().mapToLong(ShownText::bytes).sum();
    }

    private static long bytes(int c) {
        return switch (c) {
            case '<', '>', '&' -> 6;
            case '"', '\\' -> 2;
            default -> c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
        };
    }
}
