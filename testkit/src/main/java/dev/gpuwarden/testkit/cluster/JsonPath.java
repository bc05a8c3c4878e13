package dev.gpuwarden.testkit.cluster;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.gpuwarden.cli.JsonReader;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The part of kubectl's JSONPath that tests need: `.name`, with `\.` for a dot in a name, `[0]`, `[*]`, and
 * `[?(@.name=="text")]`.
 */
public final class JsonPath {

    private static final Pattern STEP = Pattern.compile(
            "\\.(?<name>(?:\\\\.|[^.\\[\\\\])+)|\\[(?<index>\\d+|\\*)]|\\[\\?\\(@(?<filter>[^=]+)==\"(?<wanted>[^\"]*)\"\\)]");

    private JsonPath() {}

    /**
     * Evaluates a path like `kubectl --output=jsonpath={PATH}`: texts as they are, other values as JSON, several with spaces between
     * them. An absent value is empty.
     *
     * @param tree of maps, lists, texts, numbers and booleans
     * @throws IllegalArgumentException when the path is none of this form
     */
    public static String text(Object tree, String path) {
        return select(Stream.of(tree), path).map(JsonPath::text).collect(Collectors.joining(" "));
    }

    private static Stream<Object> select(Stream<Object> found, String path) {
        Matcher step = STEP.matcher(path);
        int end = 0;
        while (step.find() && step.start() == end) {
            found = step(found, step);
            end = step.end();
        }
        if (end < path.length()) {
            throw new IllegalArgumentException(path + ": expected a step at '" + path.substring(end)
                    + "', as in .name, [0], [*] or [?(@.name==\"text\")]");
        }
        return found;
    }

    private static Stream<Object> step(Stream<Object> found, Matcher step) {
        String name = step.group("name");
        if (name != null) {
            String key = name.replaceAll("\\\\(.)", "$1");
            return found.map(node -> node instanceof Map<?, ?> map ? map.get(key) : null)
                    .filter(Objects::nonNull)
                    .map(Object.class::cast);
        }
        Stream<Object> items = found.flatMap(node -> node instanceof List<?> list ? list.stream() : Stream.of());
        String index = step.group("index");
        if (index == null) {
            String filter = step.group("filter");
            String wanted = step.group("wanted");
            return items.filter(item -> text(item, filter).equals(wanted));
        }
        return index.equals("*") ? items : items.skip(Long.parseLong(index)).limit(1);
    }

    private static String text(Object node) {
        return node instanceof String text ? text : JsonTree.write(node);
    }

    /** Reads and writes JSON as trees of maps, lists, texts, numbers and booleans. Leaves out fields that are null. */
    static final class JsonTree {

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
}
