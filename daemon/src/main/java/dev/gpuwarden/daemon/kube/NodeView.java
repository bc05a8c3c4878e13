package dev.gpuwarden.daemon.kube;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the API server has of this node, as far as it concerns anybody here.
 *
 * @param conditions by type
 * @param own types of the conditions that this program made, as the API server noted at the time: nobody has to remember them
 */
record NodeView(Map<String, Condition> conditions, Set<String> own, Map<String, String> labels) {

    private static final String KEY_BEFORE = "k:{\"type\":\"";
    private static final String KEY_AFTER = "\"}";

    static NodeView of(Fields node) {
        Map<String, Condition> conditions = new LinkedHashMap<>();
        for (Fields condition : node.object("status").objects("conditions")) {
            String type = condition.text("type");
            conditions.put(
                    type,
                    new Condition(
                            type,
                            condition.text("status"),
                            condition.text("reason"),
                            condition.text("message"),
                            time(condition.text("lastTransitionTime")),
                            time(condition.text("lastHeartbeatTime"))));
        }
        Map<String, String> labels = new LinkedHashMap<>();
        Fields metadata = node.object("metadata");
        Fields given = metadata.object("labels");
        given.names().forEach(name -> labels.put(name, given.text(name)));
        Set<String> own = own(metadata.objects("managedFields"));
        own.retainAll(conditions.keySet());
        return new NodeView(conditions, own, labels);
    }

    /** Server-side apply's own record, see kubernetes.io, "Field Management". */
    private static Set<String> own(List<Fields> managers) {
        Set<String> own = new LinkedHashSet<>();
        for (Fields manager : managers) {
            if (!manager.text("manager").equals(Request.MANAGER)
                    || !manager.text("operation").equals("Apply")) {
                continue;
            }
            Fields conditions = manager.object("fieldsV1").object("f:status").object("f:conditions");
            for (String key : conditions.names()) {
                if (key.startsWith(KEY_BEFORE) && key.endsWith(KEY_AFTER)) {
                    own.add(key.substring(KEY_BEFORE.length(), key.length() - KEY_AFTER.length()));
                }
            }
        }
        return own;
    }

    private static Instant time(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeException e) {
            return Instant.EPOCH;
        }
    }

    /** With another's conditions. */
    NodeView withConditionsOf(NodeView other) {
        return new NodeView(other.conditions, other.own, labels);
    }

    /** With another's labels. */
    NodeView withLabelsOf(NodeView other) {
        return new NodeView(conditions, own, other.labels);
    }

    /** Those of ours, the last changed first. */
    List<Condition> ownConditions() {
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

    /** Whether somebody else keeps a condition of this type for another purpose, so that it must be left alone. */
    boolean foreign(String type) {
        Condition there = conditions.get(type);
        return there != null && !own.contains(type) && !there.tellsHealthOf(type);
    }
}
