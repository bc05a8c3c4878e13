package dev.gpuwarden.aggregator.maintenance;

import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A maintenance resource for display: its creator, its result and its stages with their times. Pure.
 *
 * @param nodeUid UID of the Node for which it was made; empty if its creator gives none
 * @param creator field manager that created it; empty if unknown
 * @param fault faults for which it was made; empty if its creator gives none
 * @param ended time of its end; empty while it is in progress
 * @param stages its stages, in their order
 */
public record MaintenanceRecord(
        MaintenanceKind kind,
        String name,
        String node,
        String nodeUid,
        String creator,
        String fault,
        Instant created,
        Optional<Instant> ended,
        List<Stage> stages) {

    /** The order of creation. */
    public static final Comparator<MaintenanceRecord> ORDER =
            Comparator.comparing(MaintenanceRecord::created).thenComparing(MaintenanceRecord::name);

    private static final String NODE_UID = "gpuwarden.dev/node-uid";
    private static final String FAULT = "gpuwarden.dev/fault";

    public MaintenanceRecord {
        stages = List.copyOf(stages);
    }

    /** @param tree the resource from the API server */
    public static MaintenanceRecord of(MaintenanceKind kind, Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        Map<String, String> annotations = JsonTrees.texts(metadata, "annotations");
        String name = JsonTrees.text(metadata, "name");
        Instant created = JsonTrees.time(metadata, "creationTimestamp").orElse(Instant.EPOCH);
        Map<String, Object> status = JsonTrees.object(tree, "status");
        return new MaintenanceRecord(
                kind,
                name,
                Identifiers.node(JsonTrees.text(JsonTrees.object(tree, "spec"), "nodeName")),
                annotations.getOrDefault(NODE_UID, ""),
                creator(metadata),
                annotations.getOrDefault(FAULT, ""),
                created,
                JsonTrees.time(status, "completionTime"),
                MaintenanceStages.of(kind, created, status).stream()
                        .map(stage -> stage.owned(kind.resources().kind() + " " + name))
                        .toList());
    }

    /**
     * Returns the field manager of the oldest write of the spec; empty if unknown. A later write of another part may have the same
     * time, because these times are whole seconds.
     */
    public static String creator(Map<String, Object> metadata) {
        return JsonTrees.objects(metadata, "managedFields").stream()
                .filter(fields -> JsonTrees.object(fields, "fieldsV1").containsKey("f:spec"))
                .min(Comparator.comparing(fields -> JsonTrees.text(fields, "time")))
                .map(fields -> JsonTrees.text(fields, "manager"))
                .orElse("");
    }

    /** Returns true if it has ended and none of its stages failed. */
    public boolean succeeded() {
        return ended.isPresent() && stages.stream().noneMatch(stage -> stage.state() == Stage.State.FAILED);
    }

    /** Returns true if the resource is for this Node, and not for an earlier one of the same name. */
    public boolean isFor(String other, String uid) {
        return node.equals(other) && (nodeUid.isEmpty() || nodeUid.equals(uid));
    }
}
