package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.nodehealth.FaultEntry.ShownText;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A reader of a resource's object that checks the type of each field. Null counts as absent. */
final class FieldReader {

    private static final int LONGEST_SEEN = 60;
    /** Room for the name of a node, and for the names of nested objects behind it. */
    private static final int LONGEST_PREFIX = 400;

    private final String prefix;
    private final Map<?, ?> tree;

    /** @param prefix text before the names of its fields in messages; may have any characters */
    FieldReader(String prefix, Map<?, ?> tree) {
        this.prefix = prefix;
        this.tree = tree;
    }

    boolean has(String field) {
        return tree.get(field) != null;
    }

    String text(String field) throws UnreadableNodeHealth {
        return tree.get(field) instanceof String text ? text : wrong(field, "a text");
    }

    /** Returns the text; empty if the field is absent. */
    String textOrEmpty(String field) throws UnreadableNodeHealth {
        return has(field) ? text(field) : "";
    }

    boolean flag(String field) throws UnreadableNodeHealth {
        return tree.get(field) instanceof Boolean flag ? flag : wrong(field, "true or false");
    }

    long number(String field) throws UnreadableNodeHealth {
        return (tree.get(field) instanceof Number number)
                        && (number instanceof Long || number instanceof Integer)
                        && number.longValue() >= 0
                ? number.longValue()
                : wrong(field, "a whole number from 0 on");
    }

    Instant time(String field) throws UnreadableNodeHealth {
        try {
            return tree.get(field) instanceof String text ? Instant.parse(text) : wrong(field, "a time");
        } catch (DateTimeException e) {
            return wrong(field, "a time of RFC 3339 in UTC");
        }
    }

    /** Returns the constant with this name. */
    <E extends Enum<E>> E word(String field, Class<E> type) throws UnreadableNodeHealth {
        for (E each : type.getEnumConstants()) {
            if (each.name().equals(tree.get(field))) {
                return each;
            }
        }
        return wrong(field, "one of " + Arrays.toString(type.getEnumConstants()));
    }

    Optional<FieldReader> object(String field) throws UnreadableNodeHealth {
        if (!has(field)) {
            return Optional.empty();
        }
        return tree.get(field) instanceof Map<?, ?> map
                ? Optional.of(new FieldReader(prefix + field + ".", map))
                : wrong(field, "an object");
    }

    /** Returns the objects; empty if the field is absent. */
    List<FieldReader> objects(String field) throws UnreadableNodeHealth {
        if (!has(field)) {
            return List.of();
        }
        if (!(tree.get(field) instanceof List<?> list)) {
            return wrong(field, "a list");
        }
        List<FieldReader> objects = new ArrayList<>();
        for (Object item : list) {
            String name = field + "[" + objects.size() + "]";
            objects.add(
                    item instanceof Map<?, ?> map
                            ? new FieldReader(prefix + name + ".", map)
                            : this.<FieldReader>wrong(name, "an object", item));
        }
        return objects;
    }

    /** Returns the texts; empty if the field is absent. */
    Map<String, String> texts(String field) throws UnreadableNodeHealth {
        Map<String, String> texts = new TreeMap<>();
        if (!has(field)) {
            return texts;
        }
        if (!(tree.get(field) instanceof Map<?, ?> map)) {
            return wrong(field, "an object");
        }
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            if (!(entry.getKey() instanceof String key) || !(entry.getValue() instanceof String value)) {
                return wrong(field, "texts alone", entry.getValue());
            }
            texts.put(key, value);
        }
        return texts;
    }

    /** Returns the texts of a list; empty if the field is absent. */
    List<String> textList(String field) throws UnreadableNodeHealth {
        if (!has(field)) {
            return List.of();
        }
        if (!(tree.get(field) instanceof List<?> list)) {
            return wrong(field, "a list");
        }
        List<String> texts = new ArrayList<>();
        for (Object item : list) {
            texts.add(item instanceof String text ? text : this.<String>wrong(field, "texts alone", item));
        }
        return texts;
    }

    <T> T wrong(String field, String expected) throws UnreadableNodeHealth {
        return wrong(field, expected, tree.get(field));
    }

    private <T> T wrong(String field, String expected, @Nullable Object seen) throws UnreadableNodeHealth {
        String place = ShownText.cut(prefix, LONGEST_PREFIX) + field;
        throw new UnreadableNodeHealth(place + ": expected " + expected + ", seen " + shown(seen));
    }

    private static String shown(@Nullable Object value) {
        if (value == null) {
            return "nothing";
        }
        if (value instanceof Map) {
            return "an object";
        }
        if (value instanceof List) {
            return "a list";
        }
        String text = ShownText.cut(value.toString(), LONGEST_SEEN);
        return value instanceof String ? "'" + text + "'" : text;
    }
}
