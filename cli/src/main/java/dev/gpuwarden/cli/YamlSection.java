package dev.gpuwarden.cli;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
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

    /** The key of YAML 1.1 whose value gives further keys; tools of Kubernetes still support it. */
    private static final String MERGE = "<<";

    /** Merged mappings may merge others. */
    private static final int DEEPEST_MERGE = 8;

    private final String file;
    private final int line;
    private final boolean merges;
    private final Node node;
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    private YamlSection(String file, Node node, boolean merges) {
        this.file = file;
        this.line = YamlFile.line(node);
        this.merges = merges;
        this.node = node;
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
        Entry merged = merges ? entries.remove(MERGE) : null;
        if (merged != null) {
            merge(merged.value, DEEPEST_MERGE);
        }
    }

    private void merge(Node from, int depth) {
        if (depth == 0) {
            throw at(YamlFile.line(from), "more than " + DEEPEST_MERGE + " mappings merged into each other");
        }
        if (from instanceof SequenceNode several) {
            several.getValue().forEach(one -> merge(one, depth - 1));
        } else if (from instanceof MappingNode map) {
            for (NodeTuple tuple : map.getValue()) {
                if (tuple.getKeyNode() instanceof ScalarNode key
                        && !key.getValue().equals(MERGE)) {
                    entries.putIfAbsent(key.getValue(), new Entry(tuple.getValueNode(), YamlFile.line(key)));
                } else if (tuple.getKeyNode() instanceof ScalarNode) {
                    merge(tuple.getValueNode(), depth - 1);
                }
            }
        } else {
            throw at(YamlFile.line(from), MERGE + ": expected keys with values");
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
        return new YamlSection(file.toString(), root, false);
    }

    /**
     * Hands on the root mapping of each document, with merged keys as tools of Kubernetes read them. Documents without content are
     * left out. An item of a Kubernetes list counts as a document, and the list without it too.
     *
     * @param name of the input, for messages
     * @param in is read to its end, and not closed
     * @param receiver is called before the next document is read
     * @throws UserError where the input cannot be read, is too large, or has a document that is no mapping
     */
    public static void readManifests(String name, InputStream in, Consumer<YamlSection> receiver) {
        YamlFile.readEach(name, in, root -> {
            if (!empty(root)) {
                receiver.accept(new YamlSection(name, root, true));
            }
        });
    }

    private static boolean empty(Node node) {
        return node instanceof ScalarNode scalar
                && scalar.isPlain()
                && List.of("", "~", "null").contains(scalar.getValue());
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

    /** Returns the mapping of a key; empty where the key is missing or has no value. */
    public Optional<YamlSection> section(String key) {
        Entry entry = entries.get(key);
        return entry == null || empty(entry.value)
                ? Optional.empty()
                : Optional.of(new YamlSection(file, entry.value, merges));
    }

    /** Returns the single value of a key as it is written; empty where the key is missing or has no value. */
    public Optional<String> value(String key) {
        Entry entry = entries.get(key);
        return entry == null || empty(entry.value) ? Optional.empty() : Optional.of(text(key));
    }

    /** Returns the keys in their order. */
    public Set<String> keys() {
        return Collections.unmodifiableSet(entries.keySet());
    }

    /** Returns whether this mapping, or one in it at any depth, has the key. */
    public boolean mentions(String key) {
        return mentions(node, key, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static boolean mentions(Node node, String key, Set<Node> seen) {
        if (!seen.add(node)) {
            return false;
        }
        if (node instanceof MappingNode map) {
            return map.getValue().stream()
                    .anyMatch(tuple -> tuple.getKeyNode() instanceof ScalarNode name
                                    && name.getValue().equals(key)
                            || mentions(tuple.getValueNode(), key, seen));
        }
        return node instanceof SequenceNode list
                && list.getValue().stream().anyMatch(item -> mentions(item, key, seen));
    }

    /** Returns the mappings of a list; empty where the key is missing. */
    public List<YamlSection> sections(String key) {
        Entry entry = entries.get(key);
        if (entry == null || merges && empty(entry.value)) {
            return List.of();
        }
        if (!(entry.value instanceof SequenceNode sequence)) {
            throw at(entry.line, key + ": expected a list");
        }
        List<YamlSection> sections = new ArrayList<>();
        for (Node item : sequence.getValue()) {
            sections.add(new YamlSection(file, item, merges));
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
