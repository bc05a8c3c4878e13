package dev.gpuwarden.testkit.cluster;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** JSON as maps, lists, texts, numbers and booleans. A field that is null is as if it were not there. */
final class JsonTree {

    private static final JsonFactory FACTORY = new JsonFactory();

    private JsonTree() {}

    /** @throws IllegalArgumentException when the text is not JSON */
    static Object read(String text) {
        try (JsonParser json = FACTORY.createParser(text)) {
            Object tree = json.nextToken() == null ? null : value(json);
            if (tree != null && json.nextToken() == null) {
                return tree;
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("expected JSON, found: " + text, e);
        }
        throw new IllegalArgumentException("expected one value of JSON, found: " + text);
    }

    private static @Nullable Object value(JsonParser json) throws IOException {
        return switch (json.currentToken()) {
            case START_OBJECT -> object(json);
            case START_ARRAY -> array(json);
            case VALUE_TRUE, VALUE_FALSE -> json.getBooleanValue();
            case VALUE_NUMBER_INT -> json.getLongValue();
            case VALUE_NUMBER_FLOAT -> json.getDecimalValue();
            case VALUE_NULL -> null;
            default -> json.getText();
        };
    }

    private static Map<String, Object> object(JsonParser json) throws IOException {
        Map<String, Object> map = new LinkedHashMap<>();
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String name = json.currentName();
            json.nextToken();
            Object value = value(json);
            if (value != null) {
                map.put(name, value);
            }
        }
        return map;
    }

    private static List<Object> array(JsonParser json) throws IOException {
        List<Object> list = new ArrayList<>();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            Object value = value(json);
            if (value != null) {
                list.add(value);
            }
        }
        return list;
    }

    /** On one line, with the names of each object in order, as kubectl prints it. */
    static String write(Object tree) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(text)) {
            write(json, tree);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void write(JsonGenerator json, Object node) throws IOException {
        if (node instanceof Map<?, ?> map) {
            json.writeStartObject();
            for (Map.Entry<?, ?> entry : new TreeMap<>(map).entrySet()) {
                json.writeFieldName(String.valueOf(entry.getKey()));
                write(json, entry.getValue());
            }
            json.writeEndObject();
        } else if (node instanceof List<?> list) {
            json.writeStartArray();
            for (Object item : list) {
                write(json, item);
            }
            json.writeEndArray();
        } else if (node instanceof Boolean bool) {
            json.writeBoolean(bool);
        } else if (node instanceof BigDecimal number) {
            json.writeNumber(number);
        } else if (node instanceof Number number) {
            json.writeNumber(number.longValue());
        } else {
            json.writeString(node.toString());
        }
    }
}
