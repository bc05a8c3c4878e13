package dev.gpuwarden.daemon.kube;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** An object of JSON or YAML by the names of its fields. What is not there, or of another kind than asked for, is empty. */
record Fields(Map<?, ?> map) {

    private static final JsonFactory JSON = new JsonFactory();
    /** Most of what a Node's JSON is, and nothing that anybody here asks for. */
    private static final Set<String> LEFT_OUT = Set.of("images", "annotations");

    static final Fields NONE = new Fields(Map.of());

    /** @throws IOException for what is no JSON object */
    static Fields json(InputStream in) throws IOException {
        try (JsonParser parser = JSON.createParser(in)) {
            if (parser.nextToken() == JsonToken.START_OBJECT) {
                return new Fields(object(parser));
            }
            throw new IOException("expected a JSON object");
        }
    }

    private static Map<String, Object> object(JsonParser parser) throws IOException {
        Map<String, Object> fields = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            JsonToken token = parser.nextToken();
            if (LEFT_OUT.contains(name)) {
                parser.skipChildren();
            } else if (token != JsonToken.VALUE_NULL) {
                fields.put(name, value(parser, token));
            }
        }
        return fields;
    }

    private static Object value(JsonParser parser, JsonToken token) throws IOException {
        return switch (token) {
            case START_OBJECT -> object(parser);
            case START_ARRAY -> {
                List<Object> items = new ArrayList<>();
                for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
                    if (next == null) {
                        throw new IOException("the JSON ends early");
                    }
                    items.add(value(parser, next));
                }
                yield items;
            }
            default -> parser.getText();
        };
    }

    /** As YAML gives it: scalars as they are written. */
    static Fields of(Map<?, ?> yaml) {
        Map<String, Object> fields = new LinkedHashMap<>();
        yaml.forEach((key, value) -> {
            if (value != null) {
                fields.put(String.valueOf(key), plain(value));
            }
        });
        return new Fields(fields);
    }

    private static Object plain(Object value) {
        if (value instanceof Map<?, ?> map) {
            return of(map).map;
        }
        return value instanceof List<?> list
                ? list.stream()
                        .filter(java.util.Objects::nonNull)
                        .map(Fields::plain)
                        .toList()
                : value.toString();
    }

    String text(String name) {
        return map.get(name) instanceof String text ? text : "";
    }

    Fields object(String name) {
        return map.get(name) instanceof Map<?, ?> fields ? new Fields(fields) : NONE;
    }

    List<Fields> objects(String name) {
        return map.get(name) instanceof List<?> list
                ? list.stream()
                        .filter(Map.class::isInstance)
                        .map(fields -> new Fields((Map<?, ?>) fields))
                        .toList()
                : List.of();
    }

    Set<String> names() {
        return map.keySet().stream().map(String::valueOf).collect(Collectors.toSet());
    }
}
