package dev.gpuwarden.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * A mapping of a YAML file: keys and values, each with its line. Scalars stay as they are written. Every method throws {@link UserError}
 * with file and line for a value of another form than it reads.
 */
public final class YamlSection {

    private record Entry(Node value, int line) {}

    private final Path file;
    private final int line;
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    private YamlSection(Path file, Node node) {
        this.file = file;
        this.line = YamlFile.line(node);
        if (!(node instanceof MappingNode map)) {
            throw wrong("expected keys with values");
        }
        for (NodeTuple tuple : map.getValue()) {
            if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                throw at(YamlFile.line(tuple.getKeyNode()), "a key must be a word");
            }
            Entry first = entries.putIfAbsent(key.getValue(), new Entry(tuple.getValueNode(), YamlFile.line(key)));
            if (first != null) {
                throw at(YamlFile.line(key), "duplicate key " + key.getValue() + ", first on line " + first.line);
            }
        }
    }

    /**
     * Returns the root mapping of a file.
     *
     * @throws UserError where the file cannot be read, or is no mapping
     */
    public static YamlSection read(Path file) {
        Node root = YamlFile.read(file)
                .orElseThrow(() -> new UserError(file + ": expected keys with values, but it is empty"));
        return new YamlSection(file, root);
    }

    /** Refuses keys other than these; the message proposes the nearest one. */
    public void allow(String... keys) {
        List<String> known = List.of(keys);
        entries.forEach((key, entry) -> {
            if (!known.contains(key)) {
                String meant = Spelling.nearest(key, known)
                        .map(near -> ", did you mean " + near + "?")
                        .orElse("; known are " + String.join(", ", known));
                throw at(entry.line, "unknown key " + key + meant);
            }
        });
    }

    public boolean has(String key) {
        return entries.containsKey(key);
    }

    /** Returns the mappings of a list; empty where the key is missing. */
    public List<YamlSection> sections(String key) {
        Entry entry = entries.get(key);
        if (entry == null) {
            return List.of();
        }
        if (!(entry.value instanceof SequenceNode sequence)) {
            throw at(entry.line, key + ": expected a list");
        }
        List<YamlSection> sections = new ArrayList<>();
        for (Node item : sequence.getValue()) {
            sections.add(new YamlSection(file, item));
        }
        return sections;
    }

    /** Returns the value of a key that must be there and must not be empty. */
    public String text(String key) {
        Entry entry = entries.get(key);
        if (entry == null) {
            throw wrong("expected the key " + key);
        }
        if (!(entry.value instanceof ScalarNode scalar) || scalar.getValue().isEmpty()) {
            throw at(entry.line, key + ": expected a value");
        }
        return scalar.getValue();
    }

    /** Returns a number of at most nine digits. */
    public long integer(String key) {
        String text = text(key);
        if (!text.matches("\\d{1,9}")) {
            throw wrong(key, "expected a number, but was '" + text + "'");
        }
        return Long.parseLong(text);
    }

    /** Returns file and line of this mapping. */
    public String origin() {
        return file + ":" + line;
    }

    /** Returns an error at the line of this mapping, for the caller to throw. */
    public UserError wrong(String problem) {
        return at(line, problem);
    }

    /** Returns an error at the line of the key, for the caller to throw. */
    public UserError wrong(String key, String problem) {
        Entry entry = entries.get(key);
        return at(entry == null ? line : entry.line, key + ": " + problem);
    }

    private UserError at(int where, String problem) {
        return new UserError(file + ":" + where + ": " + problem);
    }
}
