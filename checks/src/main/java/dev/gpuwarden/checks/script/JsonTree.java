package dev.gpuwarden.checks.script;

import dev.gpuwarden.cli.JsonReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One JSON object that was read whole, with access by name. Numbers are doubles; null counts as missing. */
final class JsonTree {

    private static final int DEEPEST = 16;

    private static final JsonReader READER =
            JsonReader.refusingDuplicates(DEEPEST).withNulls();

    private final Map<String, Object> fields;

    private JsonTree(Map<?, ?> object) {
        fields = new LinkedHashMap<>();
        object.forEach((name, value) -> {
            if (value != null) {
                fields.put(String.valueOf(name), value);
            }
        });
    }

    static JsonTree empty() {
        return new JsonTree(Map.of());
    }

    /** @throws IOException with place and cause if the text is anything but one object */
    static JsonTree read(String text) throws IOException {
        return new JsonTree(READER.readObject(text));
    }

    Map<String, Object> fields() {
        return fields;
    }

    Optional<String> text(String name) throws IOException {
        return of(name, String.class, "a text");
    }

    Optional<Double> number(String name) throws IOException {
        return of(name, Number.class, "a number").map(Number::doubleValue);
    }

    Optional<JsonTree> object(String name) throws IOException {
        return of(name, Map.class, "an object").map(JsonTree::new);
    }

    /** Returns the objects of a list; empty if there is no such field. */
    List<JsonTree> objects(String name) throws IOException {
        return all(name, Map.class, "objects").stream().map(JsonTree::new).toList();
    }

    List<String> texts(String name) throws IOException {
        return all(name, String.class, "texts");
    }

    private <T> Optional<T> of(String name, Class<T> type, String what) throws IOException {
        Object value = fields.get(name);
        if (value == null) {
            return Optional.empty();
        }
        if (!type.isInstance(value)) {
            throw new IOException(name + " is not " + what);
        }
        return Optional.of(type.cast(value));
    }

    private <T> List<T> all(String name, Class<T> type, String what) throws IOException {
        Object value = fields.get(name);
        if (value == null) {
            return List.of();
        }
        List<T> all = new ArrayList<>();
        if (value instanceof List<?> items && items.stream().allMatch(type::isInstance)) {
            items.forEach(item -> all.add(type.cast(item)));
            return all;
        }
        throw new IOException(name + " is not a list of " + what);
    }
}
