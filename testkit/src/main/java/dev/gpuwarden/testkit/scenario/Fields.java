package dev.gpuwarden.testkit.scenario;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** A mapping whose keys are known. */
final class Fields {

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

    /** Reads the value of a key; returns `otherwise` where the key is missing. */
    int integer(String key, int otherwise, int min, int max) {
        return read(key, otherwise, node -> node.integer(min, max));
    }
}
