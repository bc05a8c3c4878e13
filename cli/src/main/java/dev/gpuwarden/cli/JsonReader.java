package dev.gpuwarden.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON into plain trees: maps in the order of the text, lists, texts, booleans and numbers. The caller bounds the length of the
 * text; the reader bounds its depth. Immutable and thread-safe.
 *
 * <p>Numbers are {@link Long}, or {@link Double} where they have a fraction or do not fit. Fields and items that are null are left out.
 * A field that occurs twice has its last value. Options change each of these.
 */
public final class JsonReader {

    /** Bound for documents that programs write, such as Kubernetes objects. */
    public static final int DEEPEST = 64;

    private record Options(boolean exactNumbers, boolean keepsNulls, Set<String> skipped) {}

    private final JsonFactory factory;
    private final Options options;

    private JsonReader(JsonFactory factory, Options options) {
        this.factory = factory;
        this.options = options;
    }

    /**
     * Returns a reader with this bound on depth.
     *
     * @param deepest number of levels of objects and lists; a deeper text is an error
     */
    public static JsonReader ofDepth(int deepest) {
        return new JsonReader(factory(deepest, false), new Options(false, false, Set.of()));
    }

    /** Returns the same reader as {@link #ofDepth(int)}, but a field that occurs twice is an error. */
    public static JsonReader refusingDuplicates(int deepest) {
        return new JsonReader(factory(deepest, true), new Options(false, false, Set.of()));
    }

    private static JsonFactory factory(int deepest, boolean refusesDuplicates) {
        return JsonFactory.builder()
                .streamReadConstraints(
                        StreamReadConstraints.builder().maxNestingDepth(deepest).build())
                .configure(StreamReadFeature.STRICT_DUPLICATE_DETECTION, refusesDuplicates)
                .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                .build();
    }

    /** Returns a reader whose numbers are {@link java.math.BigDecimal}, with all digits of the text. */
    public JsonReader withExactNumbers() {
        return new JsonReader(factory, new Options(true, options.keepsNulls, options.skipped));
    }

    /** Returns a reader that keeps null as the value of fields and items. */
    public JsonReader withNulls() {
        return new JsonReader(factory, new Options(options.exactNumbers, true, options.skipped));
    }

    /** Returns a reader that leaves out fields of these names at every level, and spends no memory on them. */
    public JsonReader without(Set<String> names) {
        return new JsonReader(factory, new Options(options.exactNumbers, options.keepsNulls, Set.copyOf(names)));
    }

    /**
     * Reads one value.
     *
     * @throws IOException with the problem and its place, where the text is no JSON, ends early, or goes on after
     *     its end
     */
    public Object read(String text) throws IOException {
        try (JsonParser parser = factory.createParser(text)) {
            return whole(parser);
        }
    }

    /** Reads one object. @throws IOException as {@link #read(String)} does, and for everything but an object */
    public Map<String, @Nullable Object> readObject(String text) throws IOException {
        return object(read(text));
    }

    /** Reads one object from UTF-8. @throws IOException as {@link #read(String)} does, and for everything but an object */
    public Map<String, @Nullable Object> readObject(byte[] text) throws IOException {
        try (JsonParser parser = factory.createParser(text)) {
            return object(whole(parser));
        }
    }

    /** Reads one object from UTF-8, and closes the stream. @throws IOException as for texts, and where the stream fails */
    public Map<String, @Nullable Object> readObject(InputStream in) throws IOException {
        try (JsonParser parser = factory.createParser(in)) {
            return object(whole(parser));
        }
    }

    @SuppressWarnings("unchecked") // names of fields are strings
    private static Map<String, @Nullable Object> object(Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            return (Map<String, @Nullable Object>) map;
        }
        throw new IOException("expected a JSON object");
    }

    private Object whole(JsonParser parser) throws IOException {
        try {
            JsonToken first = parser.nextToken();
            if (first == null) {
                throw new IOException("expected JSON, but it is empty");
            }
            Object value = value(parser, first);
            if (parser.nextToken() != null) {
                throw new IOException("there is more after its end");
            }
            if (value == null) {
                throw new IOException("expected a value, found null");
            }
            return value;
        } catch (JsonProcessingException e) {
            JsonLocation at = e.getLocation();
            throw new IOException(e.getOriginalMessage()
                    + (at == null ? "" : ", line " + at.getLineNr() + " column " + at.getColumnNr()));
        }
    }

    private @Nullable Object value(JsonParser parser, @Nullable JsonToken token) throws IOException {
        if (token == null) {
            throw new IOException("it ends early");
        }
        return switch (token) {
            case START_OBJECT -> fields(parser);
            case START_ARRAY -> items(parser);
            case VALUE_TRUE, VALUE_FALSE -> parser.getBooleanValue();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser, token);
            case VALUE_STRING -> parser.getText();
            case VALUE_NULL -> null;
            default -> throw new IOException("expected a value, found " + token.asString());
        };
    }

    private Map<String, @Nullable Object> fields(JsonParser parser) throws IOException {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            JsonToken token = parser.nextToken();
            if (options.skipped.contains(name)) {
                parser.skipChildren();
            } else if (token != JsonToken.VALUE_NULL || options.keepsNulls) {
                fields.put(name, value(parser, token));
            }
        }
        return fields;
    }

    private List<@Nullable Object> items(JsonParser parser) throws IOException {
        List<@Nullable Object> items = new ArrayList<>();
        for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
            if (next != JsonToken.VALUE_NULL || options.keepsNulls) {
                items.add(value(parser, next));
            }
        }
        return items;
    }

    private Object number(JsonParser parser, JsonToken token) throws IOException {
        if (options.exactNumbers) {
            return parser.getDecimalValue();
        }
        boolean whole =
                token == JsonToken.VALUE_NUMBER_INT && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
        return whole ? (Object) parser.getLongValue() : (Object) parser.getDoubleValue();
    }
}
