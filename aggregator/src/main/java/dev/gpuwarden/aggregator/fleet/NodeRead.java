package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.json.Trees;
import dev.gpuwarden.aggregator.rules.Taint;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A Node as the API server had it.
 *
 * @param taints as they are there, with fields that nobody here knows
 * @param tree all of it, but for what is large and nobody asks for: images, volumes, fields of others
 */
public record NodeRead(
        String name,
        String uid,
        String resourceVersion,
        boolean unschedulable,
        Map<String, String> labels,
        Map<String, String> annotations,
        List<Map<String, Object>> taints,
        Map<String, Object> tree) {

    public static NodeRead of(Map<String, Object> tree) {
        Map<String, Object> metadata = Trees.object(tree, "metadata");
        Map<String, Object> spec = Trees.object(tree, "spec");
        return new NodeRead(
                Trees.text(metadata, "name"),
                Trees.text(metadata, "uid"),
                Trees.text(metadata, "resourceVersion"),
                Trees.isTrue(spec, "unschedulable"),
                Trees.texts(metadata, "labels"),
                Trees.texts(metadata, "annotations"),
                Trees.objects(spec, "taints"),
                tree);
    }

    public static Taint taint(Map<String, Object> tree) {
        return new Taint(Trees.text(tree, "key"), Trees.text(tree, "value"), Trees.text(tree, "effect"));
    }

    public boolean has(Taint taint) {
        return taints.stream().anyMatch(there -> taint(there).equals(taint));
    }

    /** For expressions, which would stumble over maps that are left out because they are empty. */
    public Map<String, Object> forRules() {
        Map<String, Object> metadata = Trees.copy(Trees.object(tree, "metadata"));
        metadata.putIfAbsent("labels", Map.of());
        metadata.putIfAbsent("annotations", Map.of());
        Map<String, Object> spec = Trees.copy(Trees.object(tree, "spec"));
        spec.putIfAbsent("taints", List.of());
        spec.putIfAbsent("unschedulable", false);
        Map<String, Object> all = new LinkedHashMap<>(tree);
        all.put("metadata", metadata);
        all.put("spec", spec);
        all.putIfAbsent("status", Map.of());
        return all;
    }
}
