package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.api.vram.CapacityRules;

/**
 * The settings of VRAM budgets.
 *
 * @param resource extended resource in MiB
 * @param advertises true if values of nodes are written into their Nodes
 * @param mode in a dry run no pod is ended
 * @param deletes true if pods may be deleted although a PodDisruptionBudget refuses their eviction
 * @param waiting true if pods that wait for VRAM get Events, which name pods of other namespaces
 */
public record VramSettings(String resource, boolean advertises, ActionMode mode, boolean deletes, boolean waiting) {

    CapacityRules capacity() {
        return new CapacityRules(resource, true, ExtendedResource::parse);
    }
}
