package dev.gpuwarden.aggregator.cluster;

import java.util.List;
import java.util.Map;

/** What is in an answer, for a reader that expects nothing. */
public final class Fields {

    private Fields() {}

    /** Empty where it is not there or no object. */
    public static Map<?, ?> map(Map<?, ?> tree, String key) {
        return tree.get(key) instanceof Map<?, ?> map ? map : Map.of();
    }

    /** Empty where it is not there or no text. */
    public static String text(Map<?, ?> tree, String key) {
        return tree.get(key) instanceof String text ? text : "";
    }

    /** Empty where it is not there or no list of texts. */
    public static List<String> texts(Map<?, ?> tree, String key) {
        return tree.get(key) instanceof List<?> list
                ? list.stream()
                        .filter(String.class::isInstance)
                        .map(String.class::cast)
                        .toList()
                : List.of();
    }

    /** 0 where it is not there or no whole number. */
    public static long number(Map<?, ?> tree, String key) {
        return tree.get(key) instanceof Number number ? number.longValue() : 0;
    }

    public static boolean flag(Map<?, ?> tree, String key) {
        return Boolean.TRUE.equals(tree.get(key));
    }
}
