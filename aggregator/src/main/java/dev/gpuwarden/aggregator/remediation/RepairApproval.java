package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.quarantine.ManualCordon.Plan;
import dev.gpuwarden.aggregator.quarantine.NodePatch;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An operator's approval of one attempt. It names the attempt's resource, so it is of no use for another one.
 *
 * @param resource name of the resource; empty without an approval
 * @param by user; empty if unknown
 */
public record RepairApproval(String resource, String by) {

    static final RepairApproval NONE = new RepairApproval("", "");

    /** Returns the approval on the Node. A text that is no JSON object is the name of the resource. */
    static RepairApproval of(CachedNode node) {
        String text = node.annotations().getOrDefault(NodeAnnotations.REPAIR_APPROVED, "");
        try {
            Map<String, Object> tree = Json.readObject(text);
            return new RepairApproval(JsonTrees.text(tree, "resource"), JsonTrees.text(tree, "by"));
        } catch (IOException e) {
            return new RepairApproval(text, "");
        }
    }

    /** Plans the approval of the action that the node waits for. */
    public static Plan plan(CachedNode node, String who) {
        Optional<Repair> next;
        try {
            next = RepairAnnotations.of(node).next();
        } catch (IOException e) {
            return new Plan(false, String.valueOf(e.getMessage()), List.of());
        }
        if (next.isEmpty()) {
            return new Plan(false, "it waits for no approval", List.of());
        }
        Repair repair = next.get();
        String what = repair.group().what() + " for " + repair.why();
        if (of(node).resource().equals(repair.resource())) {
            return new Plan(true, "it was approved already: " + what, List.of());
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("resource", repair.resource());
        tree.put("by", who);
        NodePatch patch = new NodePatch(node);
        patch.annotate(NodeAnnotations.REPAIR_APPROVED, Optional.of(Json.write(tree)));
        return new Plan(true, "approved: " + what, patch.operations());
    }
}
