package dev.gpuwarden.api.kube;

import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The part of a Node that gpuwarden uses, as the API server stores it.
 *
 * @param conditions by type
 * @param own types of the conditions that this manager made, as the API server recorded them
 * @param labels by name
 */
public record NodeView(Map<String, Condition> conditions, Set<String> own, Map<String, String> labels) {

    private static final String KEY_BEFORE = "k:{\"type\":\"";
    private static final String KEY_AFTER = "\"}";

    /**
     * @param node the API server's JSON; a field that is missing or of another kind counts as empty
     * @param manager the field manager under which conditions are applied
     */
    public static NodeView of(Map<?, ?> node, String manager) {
        Map<String, Condition> conditions = new LinkedHashMap<>();
        for (Map<?, ?> condition : JsonTrees.objects(JsonTrees.object(node, "status"), "conditions")) {
            String type = JsonTrees.text(condition, "type");
            conditions.put(
                    type,
                    new Condition(
                            type,
                            JsonTrees.text(condition, "status"),
                            JsonTrees.text(condition, "reason"),
                            JsonTrees.text(condition, "message"),
                            JsonTrees.time(condition, "lastTransitionTime").orElse(Instant.EPOCH),
                            JsonTrees.time(condition, "lastHeartbeatTime").orElse(Instant.EPOCH)));
        }
        Map<?, ?> metadata = JsonTrees.object(node, "metadata");
        Map<String, String> labels = new LinkedHashMap<>();
        JsonTrees.object(metadata, "labels")
                .forEach((name, value) -> labels.put(String.valueOf(name), String.valueOf(value)));
        Set<String> own = own(JsonTrees.objects(metadata, "managedFields"), manager);
        own.retainAll(conditions.keySet());
        return new NodeView(conditions, own, labels);
    }

    /** Returns the types from server-side apply's record, see kubernetes.io, "Field Management". */
    private static Set<String> own(List<? extends Map<?, ?>> managers, String name) {
        Set<String> own = new LinkedHashSet<>();
        for (Map<?, ?> manager : managers) {
            if (!JsonTrees.text(manager, "manager").equals(name)
                    || !JsonTrees.text(manager, "operation").equals("Apply")) {
                continue;
            }
            Map<?, ?> conditions = JsonTrees.object(
                    JsonTrees.object(JsonTrees.object(manager, "fieldsV1"), "f:status"), "f:conditions");
            for (Object field : conditions.keySet()) {
                String key = String.valueOf(field);
                if (key.startsWith(KEY_BEFORE) && key.endsWith(KEY_AFTER)) {
                    own.add(key.substring(KEY_BEFORE.length(), key.length() - KEY_AFTER.length()));
                }
            }
        }
        return own;
    }

    /** Returns a view with another view's conditions. */
    public NodeView withConditionsOf(NodeView other) {
        return new NodeView(other.conditions, other.own, labels);
    }

    /** Returns a view with another view's labels. */
    public NodeView withLabelsOf(NodeView other) {
        return new NodeView(conditions, own, other.labels);
    }

    /** Returns gpuwarden's conditions, the last changed first. */
    public List<Condition> ownConditions() {
        List<Condition> ours = new ArrayList<>();
        for (String type : own) {
            Condition condition = conditions.get(type);
            if (condition != null) {
                ours.add(condition);
            }
        }
        ours.sort(java.util.Comparator.comparing(Condition::transition).reversed());
        return ours;
    }

    /** Returns whether another program uses a condition of this type for another purpose, so that it must be left alone. */
    public boolean foreign(String type) {
        Condition there = conditions.get(type);
        return there != null && !own.contains(type) && !there.tellsHealthOf(type);
    }
}
