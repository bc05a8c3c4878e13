package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.JsonWriter;
import java.io.IOException;
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
        return node instanceof String text ? text : JsonWriter.compact(sorted(node));
    }

    /** Returns the tree with the names of each object in order, as kubectl writes them. */
    private static Object sorted(Object node) {
        if (node instanceof List<?> list) {
            return list.stream().map(JsonPath::sorted).toList();
        }
        if (!(node instanceof Map<?, ?> map)) {
            return node;
        }
        Map<String, Object> sorted = new TreeMap<>();
        map.forEach((name, value) -> sorted.put(String.valueOf(name), sorted(value)));
        return sorted;
    }

    /** Reads JSON as trees of maps, lists, texts, numbers and booleans. Leaves out fields that are null. */
    static final class JsonTree {

        private static final JsonReader READER = JsonReader.ofDepth(JsonReader.DEEPEST);

        private JsonTree() {}

        /** @throws IllegalArgumentException when the text is not JSON */
        static Object read(String text) {
            try {
                return READER.read(text);
            } catch (IOException e) {
                throw new IllegalArgumentException("expected JSON (" + e.getMessage() + "), found: " + text, e);
            }
        }
    }
}
