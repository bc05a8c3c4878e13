package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The status of a maintenance resource.
 *
 * @param started time at which the action began; empty before
 * @param observedGeneration generation of the spec that is carried out; 0 before
 * @param nodeUid UID of the Node at that time; empty before
 * @param bootId boot ID of the node at that time; empty for other kinds than RebootNode
 * @param services services of the GPU Operator that are stopped for the action
 * @param job Job of the action; empty before it is stored
 */
record Progress(
        Optional<Instant> started,
        Optional<Instant> completed,
        String phase,
        long observedGeneration,
        String nodeUid,
        String bootId,
        List<Service> services,
        Optional<JobRef> job,
        List<Condition> conditions) {

    /**
     * The type of the record of an action: a condition whose message is JSON with what the next steps need. The definitions of
     * NVSentinel's janitor keep the times and the conditions of a status, and nothing else; a program that writes a status by their
     * types drops the rest too.
     */
    static final String RECORD = "gpuwarden.dev/ActionRecorded";

    /**
     * A service of the GPU Operator.
     *
     * @param label label of the Node that starts it
     * @param value value of the label before
     * @param pods number of its pods before
     */
    record Service(String label, String value, int pods) {

        Map<String, Object> tree() {
            return Map.of("label", label, "value", value, "pods", pods);
        }
    }

    record JobRef(String namespace, String name, String uid) {

        Map<String, Object> tree() {
            return Map.of("namespace", namespace, "name", name, "uid", uid);
        }
    }

    /** @param since time of the last change of its status */
    record Condition(String type, String status, String reason, String message, Instant since) {

        boolean isTrue() {
            return status.equals("True");
        }

        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("type", type);
            tree.put("status", status);
            tree.put("reason", reason);
            tree.put("message", message);
            tree.put("lastTransitionTime", since.toString());
            return tree;
        }
    }

    static Progress of(Map<String, Object> status) {
        Map<String, Object> kept = recorded(status);
        Map<String, Object> job = JsonTrees.object(kept, "jobRef");
        return new Progress(
                JsonTrees.time(status, "startTime"),
                JsonTrees.time(status, "completionTime"),
                JsonTrees.text(status, "phase"),
                JsonTrees.longNumber(kept, "observedGeneration"),
                JsonTrees.text(kept, "nodeUID"),
                Identifiers.uid(JsonTrees.text(kept, "bootID")),
                JsonTrees.objects(kept, "services").stream()
                        .map(each -> new Service(
                                JsonTrees.text(each, "label"),
                                JsonTrees.text(each, "value"),
                                JsonTrees.number(each, "pods")))
                        .toList(),
                job.isEmpty()
                        ? Optional.empty()
                        : Optional.of(new JobRef(
                                JsonTrees.text(job, "namespace"),
                                JsonTrees.text(job, "name"),
                                JsonTrees.text(job, "uid"))),
                JsonTrees.objects(status, "conditions").stream()
                        .map(each -> new Condition(
                                JsonTrees.text(each, "type"),
                                JsonTrees.text(each, "status"),
                                JsonTrees.text(each, "reason"),
                                JsonTrees.text(each, "message"),
                                JsonTrees.time(each, "lastTransitionTime").orElse(Instant.EPOCH)))
                        .toList());
    }

    /**
     * Returns the fields of the record; those of the status itself without a record that can be read, as an earlier version
     * wrote it.
     */
    private static Map<String, Object> recorded(Map<String, Object> status) {
        Optional<String> record = JsonTrees.objects(status, "conditions").stream()
                .filter(each -> JsonTrees.text(each, "type").equals(RECORD))
                .map(each -> JsonTrees.text(each, "message"))
                .findFirst();
        try {
            return record.isPresent() ? Json.readObject(record.get()) : status;
        } catch (IOException e) {
            return status;
        }
    }

    Optional<Condition> condition(String type) {
        return conditions.stream().filter(each -> each.type().equals(type)).findFirst();
    }

    boolean isTrue(String type) {
        return condition(type).filter(Condition::isTrue).isPresent();
    }

    /** Returns true if the status has what the steps of an action need. It is written with the begin of the action. */
    boolean isRecorded() {
        return started.isPresent() && !nodeUid.isEmpty();
    }

    /** Returns the fields that the steps of an action need. */
    Map<String, Object> recorded() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("observedGeneration", observedGeneration);
        tree.put("nodeUID", nodeUid);
        tree.put("bootID", bootId);
        tree.put("services", services.stream().map(Service::tree).toList());
        job.ifPresent(ref -> tree.put("jobRef", ref.tree()));
        return tree;
    }

    /** A change of a status. Fields and conditions that it does not name stay. */
    static final class Change {

        private final Progress before;
        private final Instant now;
        private final Map<String, Object> fields = new LinkedHashMap<>();
        private final Map<String, Condition> conditions = new LinkedHashMap<>();

        Change(Progress before, Instant now) {
            this.before = before;
            this.now = now;
            before.conditions().forEach(each -> conditions.put(each.type(), each));
        }

        Change set(String field, Object value) {
            fields.put(field, value);
            return this;
        }

        Change condition(String type, boolean status, String reason, String message) {
            String text = status ? "True" : "False";
            Instant since = before.condition(type)
                    .filter(each -> each.status().equals(text))
                    .map(Condition::since)
                    .orElse(now);
            conditions.put(type, new Condition(type, text, reason, message, since));
            return this;
        }

        /** Ends the resource. */
        Change complete(String doneCondition, boolean success, String reason, String message) {
            set("phase", success ? "Succeeded" : "Failed");
            set("completionTime", now.toString());
            return condition(doneCondition, success, reason, message);
        }

        /** Returns true if the change begins the action. */
        boolean begins() {
            return fields.containsKey("startTime");
        }

        /** Returns true for a success and false for a failure; empty if the change does not end the resource. */
        Optional<Boolean> result() {
            return fields.containsKey("completionTime")
                    ? Optional.of("Succeeded".equals(fields.get("phase")))
                    : Optional.empty();
        }

        /** Returns the record after the change; empty before the action begins. */
        private Optional<Condition> actionRecord() {
            Map<String, Object> recorded = before.recorded();
            fields.forEach((name, value) -> {
                if (recorded.containsKey(name) || name.equals("jobRef")) {
                    recorded.put(name, value);
                }
            });
            Instant since = before.condition(RECORD).map(Condition::since).orElse(now);
            return JsonTrees.text(recorded, "nodeUID").isEmpty()
                    ? Optional.empty()
                    : Optional.of(new Condition(RECORD, "True", "Recorded", Json.write(recorded), since));
        }

        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>(fields);
            Map<String, Condition> conditions = new LinkedHashMap<>(this.conditions);
            actionRecord().ifPresent(record -> conditions.put(RECORD, record));
            List<Map<String, Object>> all = new ArrayList<>();
            conditions.values().forEach(each -> all.add(each.tree()));
            tree.put("conditions", all);
            return tree;
        }
    }
}
