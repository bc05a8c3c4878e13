package dev.gpuwarden.core.util;

import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A reader of a plain tree of unknown origin that checks the type of each field. Null counts as absent. An error is an {@link
 * IOException} that names the field, the expected and the seen value, without control characters. The caller bounds depth and length
 * of the tree. Immutable if the tree is.
 */
public class FieldReader {

    private static final int LONGEST_SEEN = 60;
    private static final int LONGEST_PATH = 400;

    private final String prefix;
    private final Map<?, ?> tree;

    /** @param prefix text before the names of its fields in messages */
    public FieldReader(String prefix, Map<?, ?> tree) {
        this.prefix = prefix;
        this.tree = tree;
    }

    public final boolean has(String field) {
        return tree.get(field) != null;
    }

    /** Returns whether the field has an object. */
    public final boolean isObject(String field) {
        return tree.get(field) instanceof Map;
    }

    /** Returns the names of the fields, in their order. */
    public final List<String> names() {
        return keys().stream().filter(this::has).toList();
    }

    private List<String> keys() {
        return tree.keySet().stream().map(String::valueOf).toList();
    }

    public String text(String field) throws IOException {
        return tree.get(field) instanceof String text ? text : wrong(field, "a text");
    }

    /** Returns the text; empty if the field is absent. */
    public final String textOrEmpty(String field) throws IOException {
        return has(field) ? text(field) : "";
    }

    public final Optional<String> optionalText(String field) throws IOException {
        return has(field) ? Optional.of(text(field)) : Optional.empty();
    }

    public final boolean flag(String field) throws IOException {
        return tree.get(field) instanceof Boolean flag ? flag : wrong(field, "true or false");
    }

    public final long number(String field) throws IOException {
        return tree.get(field) instanceof Number number && (number instanceof Long || number instanceof Integer)
                ? number.longValue()
                : wrong(field, "a whole number");
    }

    /** Returns a number that is not negative. */
    public final long count(String field) throws IOException {
        return tree.get(field) instanceof Number number
                        && (number instanceof Long || number instanceof Integer)
                        && number.longValue() >= 0
                ? number.longValue()
                : wrong(field, "a whole number from 0 on");
    }

    /** Returns a number, with or without a fraction. */
    public final double decimal(String field) throws IOException {
        return tree.get(field) instanceof Number number ? number.doubleValue() : wrong(field, "a number");
    }

    public final Instant time(String field) throws IOException {
        try {
            return tree.get(field) instanceof String text ? Instant.parse(text) : wrong(field, "a time");
        } catch (DateTimeException e) {
            return wrong(field, "a time of RFC 3339 in UTC");
        }
    }

    /** Returns the constant with this name. */
    public final <E extends Enum<E>> E word(String field, Class<E> type) throws IOException {
        for (E each : type.getEnumConstants()) {
            if (each.name().equals(tree.get(field))) {
                return each;
            }
        }
        return wrong(field, "one of " + Arrays.toString(type.getEnumConstants()));
    }

    /** Returns the object as a plain tree. An absent field is an error. */
    public final Map<?, ?> map(String field) throws IOException {
        return tree.get(field) instanceof Map<?, ?> map ? map : wrong(field, "an object");
    }

    public final Optional<FieldReader> object(String field) throws IOException {
        return has(field) ? Optional.of(objectOrEmpty(field)) : Optional.empty();
    }

    /** Returns the object; one without fields if it is absent. */
    public final FieldReader objectOrEmpty(String field) throws IOException {
        return new FieldReader(path(field) + ".", has(field) ? map(field) : Map.of());
    }

    /** Returns the objects of a list; empty if the field is absent. */
    public final List<FieldReader> objects(String field) throws IOException {
        return has(field) ? requiredObjects(field) : List.of();
    }

    /** Returns the objects of a list. An absent field is an error. */
    public final List<FieldReader> requiredObjects(String field) throws IOException {
        List<FieldReader> objects = new ArrayList<>();
        for (Object item : list(field)) {
            String name = field + "[" + objects.size() + "]";
            Map<?, ?> object = item instanceof Map<?, ?> map ? map : new FieldReader(prefix, items(field)).map(name);
            objects.add(new FieldReader(path(name) + ".", object));
        }
        return objects;
    }

    /** Returns the texts of an object; empty if the field is absent. */
    public final Map<String, String> texts(String field) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        FieldReader object = objectOrEmpty(field);
        for (String name : object.names()) {
            texts.put(name, object.text(name));
        }
        return texts;
    }

    /** Returns the texts of a list; empty if the field is absent. */
    public final List<String> textList(String field) throws IOException {
        List<String> texts = new ArrayList<>();
        if (has(field)) {
            for (Object item : list(field)) {
                texts.add(
                        item instanceof String text
                                ? text
                                : new FieldReader(prefix, items(field)).text(field + "[" + texts.size() + "]"));
            }
        }
        return texts;
    }

    /** Returns the numbers of a list. An absent field is an error. */
    public final List<Double> decimals(String field) throws IOException {
        List<Double> numbers = new ArrayList<>();
        FieldReader items = new FieldReader(prefix, items(field));
        for (String item : items.keys()) {
            numbers.add(items.decimal(item));
        }
        return numbers;
    }

    private List<?> list(String field) throws IOException {
        return tree.get(field) instanceof List<?> list ? list : wrong(field, "a list");
    }

    /** Returns the items of a list by the names that they have in messages. An absent field is an error. */
    protected final Map<String, Object> items(String field) throws IOException {
        Map<String, Object> items = new LinkedHashMap<>();
        list(field).forEach(item -> items.put(field + "[" + items.size() + "]", item));
        return items;
    }

    /** Returns the name of a field in messages. */
    protected final String path(String field) {
        return prefix + field;
    }

    /** Throws the error of a field. */
    public final <T> T wrong(String field, String expected) throws IOException {
        throw new IOException(
                Text.printable(path(field), LONGEST_PATH) + ": expected " + expected + ", seen " + seen(field));
    }

    private String seen(String field) {
        if (!has(field)) {
            return "nothing";
        }
        if (isObject(field)) {
            return "an object";
        }
        if (tree.get(field) instanceof List) {
            return "a list";
        }
        String text = Text.printable(String.valueOf(tree.get(field)), LONGEST_SEEN);
        return tree.get(field) instanceof String ? "'" + text + "'" : text;
    }
}
