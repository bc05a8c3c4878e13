package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.core.event.ActionName;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A user's own way of repair: the resource to make for a fault with one of these actions.
 *
 * @param actions names of recommended actions; {@code CUSTOM:NAME} for a custom one
 * @param drain pods that leave before
 * @param complete type of the condition that is True after success
 * @param failed type of the condition that is True after a failure; empty if there is none
 * @param operator true if an operator must act also after success
 * @param object the resource with placeholders, without its name
 */
record RepairTemplate(
        TemplateKind kind,
        List<String> actions,
        Drain drain,
        String complete,
        String failed,
        boolean operator,
        Map<String, Object> object) {

    private static final int LONGEST_WHY = 300;

    /** The pods that leave a node before its resource is made. */
    enum Drain {
        ALL,
        /** The pods of the GPUs at fault. Faults of other GPUs get a resource of their own. */
        GPU,
        NONE
    }

    RepairTemplate {
        actions = List.copyOf(actions);
    }

    String name() {
        return kind.template();
    }

    boolean answers(HealthEvent cause) {
        return actions.contains(ActionName.of(cause));
    }

    /**
     * Returns the group of a fault; empty if the template cannot act on it.
     *
     * @param undrained true if the fault skips the drain
     * @param gpus names of its GPUs
     */
    Optional<RepairGroup> group(boolean undrained, Set<String> gpus) {
        if (undrained && drain != Drain.NONE) {
            return Optional.empty();
        }
        if (drain != Drain.GPU) {
            return Optional.of(new RepairGroup(kind, Collections.emptySortedSet()));
        }
        return gpus.isEmpty() || !gpus.stream().allMatch(RepairGroup::isGpu)
                ? Optional.empty()
                : Optional.of(new RepairGroup(kind, new TreeSet<>(gpus)));
    }

    /** Returns the resource to create. */
    Map<String, Object> body(String node, String uid, Repair repair, Map<String, Object> values) {
        Map<String, Object> tree = Placeholders.fill(object, values);
        Map<String, Object> given = JsonTrees.object(tree, "metadata");
        Map<String, Object> labels = new LinkedHashMap<>(JsonTrees.object(given, "labels"));
        labels.put(MaintenanceResource.MANAGED_BY, MaintenanceResource.US);
        Map<String, Object> annotations = new LinkedHashMap<>(JsonTrees.object(given, "annotations"));
        annotations.put(MaintenanceResource.NODE, node);
        annotations.put(MaintenanceResource.NODE_UID, uid);
        annotations.put(MaintenanceResource.TEMPLATE, name());
        annotations.put(MaintenanceResource.FAULT, repair.why());
        annotations.put(MaintenanceResource.GROUP, repair.group().name());
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("name", repair.resource());
        kind.resources().namespace().ifPresent(namespace -> metadata.put("namespace", namespace));
        metadata.put("labels", labels);
        metadata.put("annotations", annotations);
        metadata.put("ownerReferences", List.of(NodeCache.NODES.reference(node, uid)));
        tree.put("metadata", metadata);
        return tree;
    }

    /** Returns the state of a resource; empty if it is not of this template. */
    Optional<MaintenanceResource> read(Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        Map<String, String> annotations = JsonTrees.texts(metadata, "annotations");
        if (!MaintenanceResource.US.equals(JsonTrees.texts(metadata, "labels").get(MaintenanceResource.MANAGED_BY))
                || !name().equals(annotations.get(MaintenanceResource.TEMPLATE))) {
            return Optional.empty();
        }
        List<Map<String, Object>> conditions = JsonTrees.objects(JsonTrees.object(tree, "status"), "conditions");
        Optional<Map<String, Object>> failure = isTrue(conditions, failed);
        Optional<Map<String, Object>> end = failure.isPresent() ? failure : isTrue(conditions, complete);
        return Optional.of(new MaintenanceResource(
                kind,
                JsonTrees.text(metadata, "name"),
                annotations.getOrDefault(MaintenanceResource.NODE, ""),
                annotations.getOrDefault(MaintenanceResource.NODE_UID, ""),
                Set.of(),
                List.of(),
                true,
                end.map(RepairTemplate::time),
                end.isPresent() && failure.isEmpty(),
                "",
                failure.map(RepairTemplate::why).orElse("")));
    }

    private static Optional<Map<String, Object>> isTrue(List<Map<String, Object>> conditions, String type) {
        return conditions.stream()
                .filter(condition -> !type.isEmpty()
                        && JsonTrees.text(condition, "type").equals(type)
                        && JsonTrees.text(condition, "status").equals("True"))
                .findFirst();
    }

    private static Instant time(Map<String, Object> condition) {
        return MaintenanceResource.ended(JsonTrees.text(condition, "lastTransitionTime"))
                .orElse(Instant.EPOCH);
    }

    private static String why(Map<String, Object> condition) {
        String message = JsonTrees.text(condition, "message");
        return Text.truncate(message.isEmpty() ? JsonTrees.text(condition, "reason") : message, LONGEST_WHY);
    }
}
