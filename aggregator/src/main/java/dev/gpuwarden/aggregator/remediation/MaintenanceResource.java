package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A resource of maintenance, of this program or another creator.
 *
 * @param node name of its node
 * @param nodeUid UID of the Node for which it was made; empty if its creator gives none
 * @param gpus UUIDs of the GPUs to reset; empty for all, or if it resets none
 * @param ended time of its end; empty while it is in progress
 * @param succeeded true if it ended and its done condition is True
 * @param reason reason of its done condition; {@link NotTried#STATUS_NOT_KEPT} without one; empty for the resource of a template
 * @param why message of the condition that explains a failure; empty without one
 */
record MaintenanceResource(
        RepairKind kind,
        String name,
        String node,
        String nodeUid,
        Set<String> gpus,
        List<String> finalizers,
        boolean ours,
        Optional<Instant> ended,
        boolean succeeded,
        String reason,
        String why) {

    static final String NODE_UID = "gpuwarden.dev/node-uid";
    static final String FAULT = "gpuwarden.dev/fault";
    static final String GROUP = "gpuwarden.dev/equivalence-group";
    static final String NODE = "gpuwarden.dev/node";
    static final String TEMPLATE = "gpuwarden.dev/template";

    static final String MANAGED_BY = "app.kubernetes.io/managed-by";
    static final String US = "gpuwarden";

    static MaintenanceResource of(MaintenanceKind kind, Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        Map<String, Object> spec = JsonTrees.object(tree, "spec");
        Map<String, Object> status = JsonTrees.object(tree, "status");
        Map<String, Object> done = JsonTrees.objects(status, "conditions").stream()
                .filter(condition -> JsonTrees.text(condition, "type").equals(kind.doneCondition()))
                .findFirst()
                .orElse(Map.of());
        return new MaintenanceResource(
                kind,
                JsonTrees.text(metadata, "name"),
                Identifiers.node(JsonTrees.text(spec, "nodeName")),
                JsonTrees.texts(metadata, "annotations").getOrDefault(NODE_UID, ""),
                Identifiers.gpus(JsonTrees.textList(JsonTrees.object(spec, "selector"), "uuids")),
                JsonTrees.textList(metadata, "finalizers"),
                US.equals(JsonTrees.texts(metadata, "labels").get(MANAGED_BY)),
                ended(JsonTrees.text(status, "completionTime")),
                JsonTrees.text(done, "status").equals("True"),
                done.isEmpty() ? NotTried.STATUS_NOT_KEPT : JsonTrees.text(done, "reason"),
                done.isEmpty()
                        ? "it ended without the condition " + kind.doneCondition() + ": its definition "
                                + kind.resources().plural() + "." + MaintenanceKind.GROUP
                                + " does not keep status.conditions, or its janitor wrote none"
                        : JsonTrees.text(done, "message"));
    }

    /** A time that cannot be read still ends the resource. */
    static Optional<Instant> ended(String time) {
        if (time.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(Instant.parse(time));
        } catch (DateTimeException e) {
            return Optional.of(Instant.EPOCH);
        }
    }

    boolean inProgress() {
        return ended.isEmpty();
    }

    /** Returns true if the resource is for this Node, and not for an earlier one of the same name. */
    boolean isFor(String name, String uid) {
        return node.equals(name) && (nodeUid.isEmpty() || nodeUid.equals(uid));
    }

    /** Returns true if it resets one of these GPUs. A resource without UUIDs resets all. */
    boolean resets(Set<String> others) {
        return kind == MaintenanceKind.GPU_RESET
                && (gpus.isEmpty() || others.stream().anyMatch(gpus::contains));
    }
}
