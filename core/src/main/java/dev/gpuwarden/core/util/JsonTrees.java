package dev.gpuwarden.core.util;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Accessors for the fields of plain trees, as JSON and YAML are read into: maps, lists, texts, numbers and booleans. A field that
 * is absent or of another type reads as empty. Returned objects are views that cannot be changed; {@link #copy} makes one that can.
 */
public final class JsonTrees {

    private JsonTrees() {}

    /** Returns a copy that can be changed, with texts as keys. The values are not copied. */
    public static Map<String, Object> copy(Map<?, ?> map) {
        Map<String, Object> copy = new LinkedHashMap<>();
        map.forEach((key, value) -> copy.put(String.valueOf(key), value));
        return copy;
    }

    public static Map<String, Object> object(Map<?, ?> tree, String name) {
        return tree.get(name) instanceof Map<?, ?> map ? view(map) : Map.of();
    }

    @SuppressWarnings("unchecked") // keys of a JSON object are strings
    private static Map<String, Object> view(Map<?, ?> map) {
        return Collections.unmodifiableMap((Map<String, Object>) map);
    }

    /** Returns the items of a list that are objects. */
    public static List<Map<String, Object>> objects(Map<?, ?> tree, String name) {
        return tree.get(name) instanceof List<?> list ? objects(list) : List.of();
    }

    /** Returns the items that are objects. */
    public static List<Map<String, Object>> objects(List<?> list) {
        return list.stream()
                .filter(Map.class::isInstance)
                .map(item -> view((Map<?, ?>) item))
                .toList();
    }

    public static String text(Map<?, ?> tree, String name) {
        return tree.get(name) instanceof String text ? text : "";
    }

    /** Returns the items of a list that are texts. */
    public static List<String> textList(Map<?, ?> tree, String name) {
        return tree.get(name) instanceof List<?> list
                ? list.stream()
                        .filter(String.class::isInstance)
                        .map(String.class::cast)
                        .toList()
                : List.of();
    }

    /** Returns the time of a field, RFC 3339; empty if it has none. */
    public static Optional<Instant> time(Map<?, ?> tree, String name) {
        String text = text(tree, name);
        try {
            return text.isEmpty() ? Optional.empty() : Optional.of(Instant.parse(text));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    public static boolean isTrue(Map<?, ?> tree, String name) {
        return Boolean.TRUE.equals(tree.get(name));
    }

    /** Returns the number; 0 if the field has none. */
    public static int number(Map<?, ?> tree, String name) {
        return tree.get(name) instanceof Number number ? number.intValue() : 0;
    }

    /** Returns the number; 0 if the field has none. */
    public static long longNumber(Map<?, ?> tree, String name) {
        return tree.get(name) instanceof Number number ? number.longValue() : 0;
    }

    /** Returns a copy of the entries whose values are texts, for example of labels and annotations. */
    public static Map<String, String> texts(Map<?, ?> tree, String name) {
        Map<String, String> texts = new LinkedHashMap<>();
        object(tree, name).forEach((key, value) -> {
            if (value instanceof String text) {
                texts.put(key, text);
            }
        });
        return texts;
    }
}
