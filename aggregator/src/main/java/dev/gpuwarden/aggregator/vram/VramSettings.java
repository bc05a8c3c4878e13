package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.api.vram.CapacityRules;
import java.util.List;
import java.util.Map;

/**
 * The settings of VRAM budgets.
 *
 * @param resource extended resource in MiB
 * @param advertises true if values of nodes are written into their Nodes
 * @param mode in a dry run no pod is ended
 * @param deletes true if pods may be deleted although a PodDisruptionBudget refuses their eviction
 * @param waiting true if pods that wait for VRAM get Events, which name pods of other namespaces
 * @param nodes only Nodes that match one of these may have the resource; empty for all Nodes
 * @param namespace namespace of this program
 */
public record VramSettings(
        String resource,
        boolean advertises,
        ActionMode mode,
        boolean deletes,
        boolean waiting,
        List<NodeSelector> nodes,
        String namespace) {

    public VramSettings {
        nodes = List.copyOf(nodes);
    }

    CapacityRules capacity() {
        return new CapacityRules(resource, true, ExtendedResource::parse);
    }

    /** Returns true if a Node with these labels may have the resource. */
    boolean permits(Map<String, String> labels) {
        return nodes.isEmpty() || nodes.stream().anyMatch(each -> each.matches(labels));
    }
}
