package dev.gpuwarden.testkit.scenario;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** A value of a YAML document with its place in the file. Texts stay as written: 535.10 does not become 535.1. */
final class Yaml {

    /** A key of a mapping, its place, its value. */
    record Entry(String key, String place, Yaml value) {}

    private static final int MAX_DEPTH = 16;

    private final String file;
    private final Node node;
    private final int depth;

    private Yaml(String file, Node node, int depth) {
        this.file = file;
        this.node = node;
        this.depth = depth;
        if (depth > MAX_DEPTH) { // an alias can make a document contain itself
            throw new Problem(place(node), "document", "at most " + MAX_DEPTH + " levels", "more");
        }
    }

    /** One document, or empty when there is nothing but comments. */
    static Optional<Yaml> parse(String file, String text) {
        try {
            LoadSettings settings = LoadSettings.builder()
                    .setLabel(file)
                    .setAllowDuplicateKeys(true) // refused here, with a better message
                    .build();
            return new Compose(settings).composeString(text).map(node -> new Yaml(file, node, 0));
        } catch (MarkedYamlEngineException e) {
            String place = e.getProblemMark().map(m -> place(file, m)).orElse(file);
            throw new Problem(place, "YAML", "a readable document", String.valueOf(e.getProblem()));
        } catch (YamlEngineException e) {
            throw new Problem(file, "YAML", "a readable document", String.valueOf(e.getMessage()));
        }
    }

    String place() {
        return place(node);
    }

    private String place(Node at) {
        return at.getStartMark().map(m -> place(file, m)).orElse(file);
    }

    private static String place(String file, Mark mark) {
        return file + ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1);
    }

    Problem problem(String subject, String expected) {
        return new Problem(place(), subject, expected, describe());
    }

    private String describe() {
        if (node instanceof ScalarNode scalar) {
            return isNull() ? "nothing" : "\"" + scalar.getValue() + "\"";
        }
        return node instanceof SequenceNode ? "a list" : "a mapping";
    }

    boolean isScalar() {
        return node instanceof ScalarNode;
    }

    boolean isMapping() {
        return node instanceof MappingNode;
    }

    boolean isList() {
        return node instanceof SequenceNode;
    }

    private boolean isNull() {
        return Tag.NULL.equals(node.getTag());
    }

    /** The scalar as written. */
    String text(String subject) {
        if (node instanceof ScalarNode scalar && !isNull()) {
            return scalar.getValue();
        }
        throw problem(subject, "a value");
    }

    List<Yaml> items(String subject) {
        if (!(node instanceof SequenceNode list)) {
            throw problem(subject, "a list");
        }
        return list.getValue().stream()
                .map(item -> new Yaml(file, item, depth + 1))
                .toList();
    }

    /** A list's items, or the one value that stands for a list of one. */
    List<Yaml> oneOrMore(String subject) {
        return isList() ? items(subject) : List.of(this);
    }

    List<Entry> entries(String subject) {
        if (!(node instanceof MappingNode mapping)) {
            throw problem(subject, "a mapping");
        }
        Set<String> seen = new HashSet<>();
        List<Entry> entries = new ArrayList<>();
        for (NodeTuple tuple : mapping.getValue()) {
            if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                throw new Problem(place(tuple.getKeyNode()), subject, "a name", "something else");
            }
            if (!seen.add(key.getValue())) {
                throw new Problem(place(key), subject, "every key once", "\"" + key.getValue() + "\" again");
            }
            entries.add(new Entry(key.getValue(), place(key), new Yaml(file, tuple.getValueNode(), depth + 1)));
        }
        return entries;
    }
}
