package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.cli.JsonReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A JSON or YAML object, read by the names of its fields. A field that is missing, or of another type than requested,
 * is empty.
 */
record JsonObject(Map<?, ?> map) {

    /** Skips most of a Node's JSON, which this client does not use. */
    private static final JsonReader JSON =
            JsonReader.ofDepth(JsonReader.DEEPEST).without(Set.of("images", "annotations"));

    static final JsonObject NONE = new JsonObject(Map.of());

    /** @throws IOException for any other JSON or text */
    static JsonObject json(InputStream in) throws IOException {
        return new JsonObject(JSON.readObject(in));
    }

    /** Converts a YAML mapping; scalars become their text. */
    static JsonObject of(Map<?, ?> yaml) {
        Map<String, Object> fields = new LinkedHashMap<>();
        yaml.forEach((key, value) -> {
            if (value != null) {
                fields.put(String.valueOf(key), plain(value));
            }
        });
        return new JsonObject(fields);
    }

    private static Object plain(Object value) {
        if (value instanceof Map<?, ?> map) {
            return of(map).map;
        }
        return value instanceof List<?> list
                ? list.stream()
                        .filter(java.util.Objects::nonNull)
                        .map(JsonObject::plain)
                        .toList()
                : value.toString();
    }

    String text(String name) {
        return map.get(name) instanceof String text ? text : "";
    }

    JsonObject object(String name) {
        return map.get(name) instanceof Map<?, ?> fields ? new JsonObject(fields) : NONE;
    }

    List<JsonObject> objects(String name) {
        return map.get(name) instanceof List<?> list
                ? list.stream()
                        .filter(Map.class::isInstance)
                        .map(fields -> new JsonObject((Map<?, ?>) fields))
                        .toList()
                : List.of();
    }

    Set<String> names() {
        return map.keySet().stream().map(String::valueOf).collect(Collectors.toSet());
    }
}
