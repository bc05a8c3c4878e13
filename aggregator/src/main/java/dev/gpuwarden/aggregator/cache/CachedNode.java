package dev.gpuwarden.aggregator.cache;

import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A Node as the API server returned it.
 *
 * @param taints all taints, with the fields that this program does not use
 * @param tree the whole object, without large fields that no part of this program reads: images, volumes, fields of other
 *     managers
 */
public record CachedNode(
        String name,
        String uid,
        String resourceVersion,
        boolean unschedulable,
        Map<String, String> labels,
        Map<String, String> annotations,
        List<Map<String, Object>> taints,
        Map<String, Object> tree) {

    public static CachedNode of(Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        Map<String, Object> spec = JsonTrees.object(tree, "spec");
        return new CachedNode(
                JsonTrees.text(metadata, "name"),
                JsonTrees.text(metadata, "uid"),
                JsonTrees.text(metadata, "resourceVersion"),
                JsonTrees.isTrue(spec, "unschedulable"),
                JsonTrees.texts(metadata, "labels"),
                JsonTrees.texts(metadata, "annotations"),
                JsonTrees.objects(spec, "taints"),
                tree);
    }

    /** Returns the time in an annotation; empty if it has none. */
    public Optional<Instant> time(String annotation) {
        return JsonTrees.time(annotations, annotation);
    }

    public static Taint taint(Map<String, Object> tree) {
        return new Taint(JsonTrees.text(tree, "key"), JsonTrees.text(tree, "value"), JsonTrees.text(tree, "effect"));
    }

    public boolean has(Taint taint) {
        return taints.stream().anyMatch(there -> taint(there).equals(taint));
    }

    /**
     * Returns the object for expressions. It adds empty maps, since an expression fails on a map that the API server left out.
     */
    public Map<String, Object> forRules() {
        Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(tree, "metadata"));
        metadata.putIfAbsent("labels", Map.of());
        metadata.putIfAbsent("annotations", Map.of());
        Map<String, Object> spec = JsonTrees.copy(JsonTrees.object(tree, "spec"));
        spec.putIfAbsent("taints", List.of());
        spec.putIfAbsent("unschedulable", false);
        Map<String, Object> all = new LinkedHashMap<>(tree);
        all.put("metadata", metadata);
        all.put("spec", spec);
        all.putIfAbsent("status", Map.of());
        return all;
    }

    /** @param effect NoSchedule, PreferNoSchedule or NoExecute */
    public record Taint(String key, String value, String effect) {

        /** Returns true if the taint keeps pods off the node or evicts them, and so takes the node out of service. */
        public boolean takesCapacity() {
            return !effect.equals("PreferNoSchedule");
        }

        @Override
        public String toString() {
            return key + (value.isEmpty() ? "" : "=" + value) + ":" + effect;
        }
    }
}
