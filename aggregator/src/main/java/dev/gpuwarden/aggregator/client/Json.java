package dev.gpuwarden.aggregator.client;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON to and from plain trees: maps in the order of the text, lists, texts, booleans, longs and doubles. A field that is null
 * is as if it were not there.
 */
public final class Json {

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(64).build())
            .build();

    private Json() {}

    /** @throws IOException with where and what, if the text is no JSON, or ends early, or goes on after its end */
    public static Object read(String text) throws IOException {
        try (JsonParser json = FACTORY.createParser(text)) {
            return read(json);
        }
    }

    private static Object read(JsonParser json) throws IOException {
        JsonToken first = json.nextToken();
        if (first == null) {
            throw new IOException("expected JSON, found nothing");
        }
        Object value = value(json, first);
        if (json.nextToken() != null) {
            throw new IOException("there is more after its end");
        }
        return value;
    }

    /** @throws IOException as {@link #read} does, and for what is no object */
    public static Map<String, Object> readObject(String text) throws IOException {
        return object(read(text));
    }

    /** The same of UTF-8. */
    public static Map<String, Object> readObject(byte[] text) throws IOException {
        try (JsonParser json = FACTORY.createParser(text)) {
            return object(read(json));
        }
    }

    @SuppressWarnings("unchecked") // names of fields are strings
    private static Map<String, Object> object(Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            return (Map<String, Object>) map;
        }
        throw new IOException("expected a JSON object");
    }

    private static Object value(JsonParser json, JsonToken token) throws IOException {
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> map = new LinkedHashMap<>();
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    String name = json.currentName();
                    JsonToken next = json.nextToken();
                    if (next != JsonToken.VALUE_NULL) {
                        map.put(name, value(json, next));
                    }
                }
                yield map;
            }
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                for (JsonToken next = json.nextToken(); next != JsonToken.END_ARRAY; next = json.nextToken()) {
                    if (next != JsonToken.VALUE_NULL) {
                        list.add(value(json, next));
                    }
                }
                yield list;
            }
            case VALUE_TRUE, VALUE_FALSE -> json.getBooleanValue();
            case VALUE_NUMBER_INT ->
                json.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                        ? json.getDoubleValue()
                        : (Object) json.getLongValue();
            case VALUE_NUMBER_FLOAT -> json.getDoubleValue();
            default -> json.getText();
        };
    }

    /** On one line. Anything but maps, lists, booleans and numbers is written as its text. */
    public static String write(Object tree) {
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
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                json.writeFieldName(entry.getKey().toString());
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
        } else if (node instanceof Double number) {
            json.writeNumber(number);
        } else if (node instanceof Number number) {
            json.writeNumber(number.longValue());
        } else {
            json.writeString(node.toString());
        }
    }
}
