package dev.gpuwarden.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A YAML configuration file as a flat list: sections joined with dots, each key with its line. Scalars stay as they are
 * written: the setting decides what `010` means.
 */
public final class ConfigFile {

    /** Limit on nested sections. No setting is deeper, and a deeper file was not written by hand. */
    private static final int MAX_DEPTH = 16;

    /** One key. */
    public record Entry(String key, Value value, int line) {}

    /** The value of a key. */
    public sealed interface Value {
        record Scalar(String text) implements Value {}

        record Many(List<String> texts) implements Value {}

        /** A key without a value. */
        record Nothing() implements Value {}
    }

    private final Path file;
    private final Map<String, Entry> entries = new TreeMap<>();
    private final List<String> problems = new ArrayList<>();
    private final Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());

    private ConfigFile(Path file) {
        this.file = file;
    }

    /** Reads a file. Errors of its form are in {@link #problems()}; this class does not check whether the keys exist. */
    public static ConfigFile read(Path path) {
        ConfigFile file = new ConfigFile(path);
        try {
            YamlFile.read(path).ifPresent(file::addRoot);
        } catch (UserError e) {
            file.problems.add(String.valueOf(e.getMessage()));
        }
        return file;
    }

    public Path path() {
        return file;
    }

    public Iterable<Entry> entries() {
        return entries.values();
    }

    public List<String> problems() {
        return problems;
    }

    private void addRoot(Node root) {
        if (root instanceof MappingNode map) {
            addSection("", map, 0);
        } else if (!isNull(root)) {
            problem(YamlFile.line(root), "expected sections with keys, found " + describe(root));
        }
    }

    private void addSection(String prefix, MappingNode section, int depth) {
        if (depth > MAX_DEPTH || !seen.add(section)) {
            problem(YamlFile.line(section), "expected no aliases and at most " + MAX_DEPTH + " nested sections");
            return;
        }
        for (NodeTuple tuple : section.getValue()) {
            if (tuple.getKeyNode() instanceof ScalarNode key) {
                add(prefix + key.getValue(), tuple.getValueNode(), YamlFile.line(key), depth);
            } else {
                problem(YamlFile.line(tuple.getKeyNode()), "a key must be a word");
            }
        }
    }

    private void add(String key, Node node, int line, int depth) {
        if (node instanceof MappingNode section && !section.getValue().isEmpty()) {
            addSection(key + ".", section, depth + 1);
            return;
        }
        Entry entry = new Entry(key, value(key, node), line);
        Entry first = entries.putIfAbsent(key, entry);
        if (first != null) {
            problem(line, "duplicate key " + key + ", first on line " + first.line());
        }
    }

    private Value value(String key, Node node) {
        if (node instanceof ScalarNode scalar) {
            return isNull(scalar) ? new Value.Nothing() : new Value.Scalar(scalar.getValue());
        }
        if (!(node instanceof SequenceNode sequence)) {
            return new Value.Nothing();
        }
        List<String> texts = new ArrayList<>();
        for (Node item : sequence.getValue()) {
            if (item instanceof ScalarNode scalar && !isNull(scalar)) {
                texts.add(scalar.getValue());
            } else {
                problem(YamlFile.line(item), key + ": expected a value in the list, found " + describe(item));
            }
        }
        return new Value.Many(texts);
    }

    private void problem(int line, String text) {
        problems.add(file + ":" + line + ": " + text);
    }

    private static boolean isNull(Node node) {
        return Tag.NULL.equals(node.getTag());
    }

    private static String describe(Node node) {
        return switch (node.getNodeType()) {
            case MAPPING -> "a section";
            case SEQUENCE -> "a list";
            default -> isNull(node) ? "nothing" : "a value";
        };
    }
}
