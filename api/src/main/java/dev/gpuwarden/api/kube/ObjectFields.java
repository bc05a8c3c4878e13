package dev.gpuwarden.api.kube;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Accessors for the fields of a Kubernetes object, in maps and lists. A field that is missing or of another type reads as empty. */
public final class ObjectFields {

    private ObjectFields() {}

    public static Map<?, ?> object(Map<?, ?> tree, String name) {
        return tree.get(name) instanceof Map<?, ?> map ? map : Map.of();
    }

    /** Returns the items of a list that are objects. */
    public static List<Map<?, ?>> objects(Map<?, ?> tree, String name) {
        List<Map<?, ?>> objects = new ArrayList<>();
        if (tree.get(name) instanceof List<?> list) {
            for (Object item : list) {
                if (item instanceof Map<?, ?> map) {
                    objects.add(map);
                }
            }
        }
        return objects;
    }

    public static String text(Map<?, ?> tree, String name) {
        return tree.get(name) instanceof String text ? text : "";
    }

    /** Returns a copy of the entries whose values are texts, for example of labels. */
    public static Map<String, String> texts(Map<?, ?> tree, String name) {
        Map<String, String> texts = new LinkedHashMap<>();
        object(tree, name).forEach((key, value) -> {
            if (value instanceof String text) {
                texts.put(String.valueOf(key), text);
            }
        });
        return texts;
    }

    /** Returns the number; 0 if the field has none. */
    public static int number(Map<?, ?> tree, String name) {
        return tree.get(name) instanceof Number number ? number.intValue() : 0;
    }

    /** Returns the instant; empty if the field has none. */
    public static Optional<Instant> time(Map<?, ?> tree, String name) {
        try {
            return tree.get(name) instanceof String text ? Optional.of(Instant.parse(text)) : Optional.empty();
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
