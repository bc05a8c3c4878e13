package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.Lean;
import dev.gpuwarden.aggregator.client.JsonTrees;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A Node with what only its full text tells.
 *
 * @param gpus whether it says that it has any
 * @param cordoner who wrote that it is to take no pods; empty where it takes them, or nothing tells
 */
public record NodeFacts(CachedNode node, boolean gpus, Optional<Cordoner> cordoner) {

    /**
     * @param program by the name that it gave the API server, as `kubectl-cordon`
     * @param at when it last wrote anything on the Node under that name
     */
    public record Cordoner(String program, Optional<Instant> at) {}

    /** @param tree as the API server has it; what is large in it is not kept */
    public static NodeFacts of(Map<String, Object> tree) {
        CachedNode node = CachedNode.of(Lean.node(tree));
        return new NodeFacts(node, gpus(tree), node.unschedulable() ? cordoner(tree) : Optional.empty());
    }

    private static boolean gpus(Map<String, Object> tree) {
        Map<String, String> labels = JsonTrees.texts(JsonTrees.object(tree, "metadata"), "labels");
        Map<String, Object> capacity = JsonTrees.object(JsonTrees.object(tree, "status"), "capacity");
        return "true".equals(labels.get("nvidia.com/gpu.present"))
                || capacity.entrySet().stream()
                        .anyMatch(resource -> (resource.getKey().equals("nvidia.com/gpu")
                                        || resource.getKey().startsWith("nvidia.com/mig-"))
                                && !String.valueOf(resource.getValue()).equals("0"));
    }

    private static Optional<Cordoner> cordoner(Map<String, Object> tree) {
        return JsonTrees.objects(JsonTrees.object(tree, "metadata"), "managedFields").stream()
                .filter(fields -> JsonTrees.object(JsonTrees.object(fields, "fieldsV1"), "f:spec")
                        .containsKey("f:unschedulable"))
                .findFirst()
                .map(fields -> new Cordoner(JsonTrees.text(fields, "manager"), time(JsonTrees.text(fields, "time"))));
    }

    private static Optional<Instant> time(String text) {
        try {
            return Optional.of(Instant.parse(text));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
