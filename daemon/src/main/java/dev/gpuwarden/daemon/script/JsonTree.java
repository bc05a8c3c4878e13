package dev.gpuwarden.daemon.script;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One JSON object that was read whole, and what is in it by name. Numbers are doubles; null is as if it were not there. */
final class JsonTree {

    private static final int DEEPEST = 16;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(DEEPEST).build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .build();

    private final Map<String, Object> fields;

    private JsonTree(Map<String, Object> fields) {
        this.fields = fields;
    }

    static JsonTree empty() {
        return new JsonTree(Map.of());
    }

    /** @throws IOException with where and what, if the text is anything but one object */
    static JsonTree read(String text) throws IOException {
        try (JsonParser parser = FACTORY.createParser(text)) {
            parser.nextToken();
            Object value = value(parser);
            if (parser.nextToken() != null) {
                throw new IOException("there is more after its end");
            }
            if (value instanceof JsonTree tree) {
                return tree;
            }
            throw new IOException("expected an object");
        } catch (JsonProcessingException e) {
            JsonLocation at = e.getLocation();
            throw new IOException(e.getOriginalMessage()
                    + (at == null ? "" : ", line " + at.getLineNr() + " column " + at.getColumnNr()));
        }
    }

    private static Object value(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == null) {
            throw new IOException("it is empty");
        }
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> fields = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    if (parser.nextToken() != JsonToken.VALUE_NULL) {
                        fields.put(name, value(parser));
                    }
                }
                yield new JsonTree(fields);
            }
            case START_ARRAY -> {
                List<Object> items = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    items.add(value(parser));
                }
                yield items;
            }
            case VALUE_TRUE, VALUE_FALSE -> parser.getBooleanValue();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case VALUE_STRING -> parser.getText();
            default -> throw new IOException("expected a value, found " + token.asString());
        };
    }

    Map<String, Object> fields() {
        return fields;
    }

    Optional<String> text(String name) throws IOException {
        return of(name, String.class, "a text");
    }

    Optional<Double> number(String name) throws IOException {
        return of(name, Double.class, "a number");
    }

    Optional<JsonTree> object(String name) throws IOException {
        return of(name, JsonTree.class, "an object");
    }

    /** Empty where there is no such field. */
    List<JsonTree> objects(String name) throws IOException {
        return all(name, JsonTree.class, "objects");
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
