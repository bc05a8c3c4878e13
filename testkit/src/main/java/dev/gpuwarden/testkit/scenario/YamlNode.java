package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.testkit.scenario.Problems.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A value of a YAML document with its place in the file and its subject, for example `gpus[0].profile`. Scalars stay as they are
 * written: 535.10 does not become 535.1. Each method that reads a value throws a {@link Problem} for any other value.
 */
final class YamlNode {

    /** A key of a mapping and its value. */
    record Entry(YamlNode key, YamlNode value) {

        /** Returns the key as written. */
        String name() {
            return ((ScalarNode) key.node).getValue();
        }
    }

    private static final int MAX_DEPTH = 16;

    private final String file;
    private final Node node;
    private final int depth;
    private final String subject;
    /** Begins the subjects of a mapping's values. */
    private final String prefix;

    private YamlNode(String file, Node node, int depth, String subject, String prefix) {
        this.file = file;
        this.node = node;
        this.depth = depth;
        this.subject = subject;
        this.prefix = prefix;
        if (depth > MAX_DEPTH) { // an alias can make a document contain itself
            throw new Problem(place(), "document", "at most " + MAX_DEPTH + " levels", "more");
        }
    }

    /**
     * Reads one document.
     *
     * @param subject its name in messages
     * @return empty for a document of nothing but comments
     */
    static Optional<YamlNode> parse(String file, String subject, String text) {
        try {
            LoadSettings settings = LoadSettings.builder()
                    .setLabel(file)
                    .setAllowDuplicateKeys(true) // refused by entries(), with a better message
                    .build();
            return new Compose(settings).composeString(text).map(node -> new YamlNode(file, node, 0, subject, ""));
        } catch (MarkedYamlEngineException e) {
            String place = e.getProblemMark().map(m -> place(file, m)).orElse(file);
            throw new Problem(place, "YAML", "a readable document", String.valueOf(e.getProblem()));
        } catch (YamlEngineException e) {
            throw new Problem(file, "YAML", "a readable document", String.valueOf(e.getMessage()));
        }
    }

    /** Returns a text that was given elsewhere than in a file: `source` alone is its place. */
    static YamlNode given(String source, String subject, String text) {
        Node node = new ScalarNode(Tag.STR, text, ScalarStyle.PLAIN);
        return new YamlNode(source, node, 0, subject, "");
    }

    String subject() {
        return subject;
    }

    /** Returns this node with another subject, which also begins the subjects of its values. */
    YamlNode named(String other) {
        return new YamlNode(file, node, depth, other, other + ".");
    }

    // ---- problems ----

    private String place() {
        return node.getStartMark().map(m -> place(file, m)).orElse(file);
    }

    private static String place(String file, Mark mark) {
        return file + ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1);
    }

    Problem problem(String expected) {
        return problem(expected, describe());
    }

    Problem problem(String expected, String seen) {
        return new Problem(place(), subject, expected, seen);
    }

    /** Returns the problem of a scalar that is none of the known names. */
    Problem unknown(String expected, Collection<String> known) {
        return unknown(expected, text(), known);
    }

    Problem unknown(String expected, String seen, Collection<String> known) {
        return Problem.unknown(place(), subject, expected, seen, known);
    }

    private String describe() {
        if (node instanceof ScalarNode scalar) {
            return isNull() ? "nothing" : "\"" + scalar.getValue() + "\"";
        }
        return node instanceof SequenceNode ? "a list" : "a mapping";
    }

    // ---- scalars ----

    boolean isScalar() {
        return node instanceof ScalarNode;
    }

    private boolean isNull() {
        return Tag.NULL.equals(node.getTag());
    }

    /** Returns whether this is the scalar `word`. */
    boolean is(String word) {
        return isScalar() && text().equals(word);
    }

    /** Returns the scalar as written. */
    String text() {
        if (node instanceof ScalarNode scalar && !isNull()) {
            return scalar.getValue();
        }
        throw problem("a value");
    }

    /** @param expected describes the pattern in messages */
    String matching(Pattern pattern, String expected) {
        if (!pattern.matcher(text()).matches()) {
            throw problem(expected);
        }
        return text();
    }

    int integer(int min, int max) {
        if (text().matches("\\d{1,9}")) {
            int number = Integer.parseInt(text());
            if (number >= min && number <= max) {
                return number;
            }
        }
        throw problem("a whole number from " + min + " to " + max);
    }

    boolean flag() {
        return value(Form.of("flag")).equals(Value.Numbers.of(1));
    }

    Duration duration() {
        return Durations.find(text()).orElseThrow(() -> problem("a time, for example 10s or 1m30s"));
    }

    /** Reads the lower-case name of a constant, with hyphens. */
    <E extends Enum<E>> E choice(Class<E> type) {
        List<String> known = Arrays.stream(type.getEnumConstants())
                .map(constant -> constant.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .toList();
        int index = known.indexOf(text());
        if (index < 0) {
            throw unknown("one of " + String.join(", ", known), known);
        }
        return type.getEnumConstants()[index];
    }

    /** Reads "absent", or a value of the form. A list is read as its items joined by "+". */
    Value value(Form form) {
        String text = isList() ? items().stream().map(YamlNode::text).collect(Collectors.joining("+")) : text();
        if (text.equals("absent")) {
            return new Value.Absent();
        }
        return form.parse(text).orElseThrow(() -> problem(form.expected() + ", or absent"));
    }

    /** Reads the numbers of a value that must not be absent. */
    List<Long> numbers(Form form) {
        if (value(form) instanceof Value.Numbers numbers) {
            return numbers.numbers();
        }
        throw problem(form.expected());
    }

    // ---- lists and mappings ----

    boolean isMapping() {
        return node instanceof MappingNode;
    }

    private boolean isList() {
        return node instanceof SequenceNode;
    }

    List<YamlNode> items() {
        if (!(node instanceof SequenceNode list)) {
            throw problem("a list");
        }
        return list.getValue().stream()
                .map(item -> new YamlNode(file, item, depth + 1, subject, subject + "."))
                .toList();
    }

    /** Returns a list's items, or this one value. */
    List<YamlNode> oneOrMore() {
        return isList() ? items() : List.of(this);
    }

    List<Entry> entries() {
        if (!(node instanceof MappingNode mapping)) {
            throw problem("a mapping");
        }
        Set<String> seen = new HashSet<>();
        List<Entry> entries = new ArrayList<>();
        for (NodeTuple tuple : mapping.getValue()) {
            YamlNode key = new YamlNode(file, tuple.getKeyNode(), depth, subject, prefix);
            if (!(tuple.getKeyNode() instanceof ScalarNode scalar)) {
                throw key.problem("a name", "something else");
            }
            String name = scalar.getValue();
            if (!seen.add(name)) {
                throw key.problem("every key once", "\"" + name + "\" again");
            }
            entries.add(new Entry(
                    key, new YamlNode(file, tuple.getValueNode(), depth + 1, prefix + name, prefix + name + ".")));
        }
        return entries;
    }

    /** Reads a mapping with these keys and no others. */
    Fields fields(String... known) {
        return new Fields(this, List.of(known));
    }

    /** A mapping whose keys are known. */
    static final class Fields {

        private final YamlNode mapping;
        private final Map<String, YamlNode> values = new HashMap<>();

        Fields(YamlNode mapping, List<String> known) {
            this.mapping = mapping;
            for (YamlNode.Entry entry : mapping.entries()) {
                if (!known.contains(entry.name())) {
                    throw entry.key().unknown("a known key", entry.name(), known);
                }
                values.put(entry.name(), entry.value());
            }
        }

        boolean has(String key) {
            return values.containsKey(key);
        }

        Optional<YamlNode> get(String key) {
            return Optional.ofNullable(values.get(key));
        }

        YamlNode require(String key) {
            return get(key).orElseThrow(() -> mapping.problem("the key \"" + key + "\"", "none"));
        }

        /** Reads the value of a key; returns `otherwise` where the key is missing. */
        <T> T read(String key, T otherwise, Function<YamlNode, T> reader) {
            return get(key).map(reader).orElse(otherwise);
        }

        /** Reads the name of a constant of the same type as `otherwise`, which it returns where the key is missing. */
        <E extends Enum<E>> E choice(String key, E otherwise) {
            return read(key, otherwise, node -> node.choice(otherwise.getDeclaringClass()));
        }

        /** Reads the value of a key; returns `otherwise` where the key is missing. */
        int integer(String key, int otherwise, int min, int max) {
            return read(key, otherwise, node -> node.integer(min, max));
        }
    }
}
