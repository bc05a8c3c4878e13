package dev.gpuwarden.aggregator.cache;

import dev.gpuwarden.aggregator.client.JsonTrees;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Leaves out of objects what is large and nobody here asks for. */
public final class Lean {

    /** Whose fields are of interest: those that this program has applied. */
    private static final String MANAGER = "gpuwarden";

    private static final Set<String> OF_STATUS = Set.of("images", "volumesInUse", "volumesAttached");

    private Lean() {}

    public static Map<String, Object> node(Map<String, Object> tree) {
        Map<String, Object> node = JsonTrees.copy(tree);
        Map<String, Object> status = JsonTrees.copy(JsonTrees.object(tree, "status"));
        status.keySet().removeAll(OF_STATUS);
        Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(tree, "metadata"));
        List<Map<String, Object>> ours = JsonTrees.objects(metadata, "managedFields").stream()
                .filter(fields -> JsonTrees.text(fields, "manager").startsWith(MANAGER))
                .toList();
        metadata.put("managedFields", ours);
        node.put("metadata", metadata);
        node.put("status", status);
        return node;
    }

    public static Map<String, Object> other(Map<String, Object> tree) {
        Map<String, Object> other = JsonTrees.copy(tree);
        Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(tree, "metadata"));
        metadata.remove("managedFields");
        other.put("metadata", metadata);
        return other;
    }
}
