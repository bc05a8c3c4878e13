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
 */
public record VramSettings(String resource, boolean advertises, ActionMode mode, boolean deletes) {

    CapacityRules capacity() {
        return new CapacityRules(resource, true, ExtendedResource::number);
    }
}
