package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.Spelling;
import dev.gpuwarden.cli.UserError;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Keys and values of a YAML file, each with its line; scalars as they are written. Throws {@link UserError} for what is wrong. */
final class YamlSection {

    private static final long LARGEST_BYTES = 1 << 20;

    private record Entry(Node value, int line) {}

    private final Path file;
    private final int line;
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    private YamlSection(Path file, Node node) {
        this.file = file;
        this.line = line(node);
        if (!(node instanceof MappingNode map)) {
            throw wrong("expected keys with values");
        }
        for (NodeTuple tuple : map.getValue()) {
            if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                throw at(line(tuple.getKeyNode()), "a key must be a word");
            }
            Entry first = entries.putIfAbsent(key.getValue(), new Entry(tuple.getValueNode(), line(key)));
            if (first != null) {
                throw at(line(key), "duplicate key " + key.getValue() + ", first on line " + first.line);
            }
        }
    }

    static YamlSection read(Path file) {
        try {
            if (Files.size(file) > LARGEST_BYTES) {
                throw new UserError(file + ": expected at most " + LARGEST_BYTES + " bytes");
            }
            InputStream in = new ByteArrayInputStream(Files.readAllBytes(file));
            LoadSettings settings = LoadSettings.builder()
                    .setLabel(file.toString())
                    .setMaxAliasesForCollections(10)
                    .build();
            Optional<Node> root = new Compose(settings).composeInputStream(in);
            return new YamlSection(
                    file, root.orElseThrow(() -> new UserError(file + ": expected keys with values, but it is empty")));
        } catch (IOException e) {
            throw new UserError(file + ": " + FileErrors.why(e));
        } catch (MarkedYamlEngineException e) {
            int at = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
            throw new UserError(file + ":" + at + ": not YAML: " + e.getProblem());
        } catch (YamlEngineException e) {
            throw new UserError(file + ": not YAML: " + e.getMessage());
        }
    }

    /** Refuses every other key. */
    void allow(String... keys) {
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

    boolean has(String key) {
        return entries.containsKey(key);
    }

    /** Empty where the key is missing. */
    List<YamlSection> sections(String key) {
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

    String text(String key) {
        Entry entry = entries.get(key);
        if (entry == null) {
            throw wrong("expected the key " + key);
        }
        if (!(entry.value instanceof ScalarNode scalar) || scalar.getValue().isEmpty()) {
            throw at(entry.line, key + ": expected a value");
        }
        return scalar.getValue();
    }

    long integer(String key) {
        String text = text(key);
        if (!text.matches("\\d{1,9}")) {
            throw wrong(key, "expected a number, but was '" + text + "'");
        }
        return Long.parseLong(text);
    }

    /** File and line. */
    String origin() {
        return file + ":" + line;
    }

    UserError wrong(String problem) {
        return at(line, problem);
    }

    UserError wrong(String key, String problem) {
        Entry entry = entries.get(key);
        return at(entry == null ? line : entry.line, key + ": " + problem);
    }

    private UserError at(int where, String problem) {
        return new UserError(file + ":" + where + ": " + problem);
    }

    private static int line(Node node) {
        return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }
}
