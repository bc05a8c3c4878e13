package dev.gpuwarden.testkit.cluster;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.gpuwarden.cli.JsonReader;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads and writes JSON as trees of maps, lists, texts, numbers and booleans. Leaves out fields that are null. */
final class JsonTree {

    private static final JsonReader READER = JsonReader.ofDepth(JsonReader.DEEPEST);
    private static final JsonFactory FACTORY = new JsonFactory();

    private JsonTree() {}

    /** @throws IllegalArgumentException when the text is not JSON */
    static Object read(String text) {
        try {
            return READER.read(text);
        } catch (IOException e) {
            throw new IllegalArgumentException("expected JSON (" + e.getMessage() + "), found: " + text, e);
        }
    }

    /** Writes one line, with the names of each object in order, as kubectl does. */
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
        } else if (node instanceof Double number) {
            json.writeNumber(number);
        } else if (node instanceof Number number) {
            json.writeNumber(number.longValue());
        } else {
            json.writeString(node.toString());
        }
    }
}
