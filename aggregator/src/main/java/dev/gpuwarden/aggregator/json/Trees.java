package dev.gpuwarden.aggregator.json;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Looks into plain trees. What is not there, or of another kind than asked for, is empty. */
public final class Trees {

    private Trees() {}

    /** The same with texts for keys. */
    public static Map<String, Object> object(Map<?, ?> map) {
        Map<String, Object> object = new LinkedHashMap<>();
        map.forEach((key, value) -> object.put(String.valueOf(key), value));
        return object;
    }

    public static Map<String, Object> object(Map<String, ?> tree, String name) {
        return tree.get(name) instanceof Map<?, ?> map ? object(map) : Map.of();
    }

    public static List<Map<String, Object>> objects(Map<String, ?> tree, String name) {
        return tree.get(name) instanceof List<?> list ? objects(list) : List.of();
    }

    /** Those of the items that are objects. */
    public static List<Map<String, Object>> objects(List<?> list) {
        return list.stream()
                .filter(Map.class::isInstance)
                .map(item -> object((Map<?, ?>) item))
                .toList();
    }

    public static String text(Map<String, ?> tree, String name) {
        return tree.get(name) instanceof String text ? text : "";
    }

    public static boolean isTrue(Map<String, ?> tree, String name) {
        return Boolean.TRUE.equals(tree.get(name));
    }

    public static int number(Map<String, ?> tree, String name, int otherwise) {
        return tree.get(name) instanceof Number number ? number.intValue() : otherwise;
    }

    /** Keys and values that are texts, as in labels and annotations. */
    public static Map<String, String> texts(Map<String, ?> tree, String name) {
        Map<String, String> texts = new LinkedHashMap<>();
        object(tree, name).forEach((key, value) -> {
            if (value instanceof String text) {
                texts.put(key, text);
            }
        });
        return texts;
    }
}
