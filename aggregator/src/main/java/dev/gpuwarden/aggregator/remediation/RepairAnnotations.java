package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.quarantine.NodePatch;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import dev.gpuwarden.aggregator.remediation.RepairRecord.Person;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The codec of {@link RepairRecord} and a Node's annotations, and the patch of their difference. Pure. */
final class RepairAnnotations {

    /** The field manager of the annotations, by which another writer of NVSentinel's annotation is recognised. */
    static final String MANAGER = "gpuwarden-remediation";

    private static final int LONGEST_CAUSE = 300;

    private static final String GROUPS = "equivalenceGroups";
    private static final String RESOURCE = "maintenanceCR";
    private static final String EARLIER = "earlier";

    private RepairAnnotations() {}

    /** @throws IOException if an annotation cannot be read */
    static RepairRecord of(CachedNode node) throws IOException {
        Map<String, String> texts = node.annotations();
        // The annotation that is read now, for the error.
        String reading = NodeAnnotations.REPAIRS;
        try {
            List<Repair> history = new ArrayList<>();
            for (Map<String, Object> repair : list(texts.getOrDefault(reading, "[]"))) {
                history.add(Repair.read(repair));
            }
            reading = NodeAnnotations.REMEDIATION_STATE;
            Map<String, Object> state = Json.readObject(texts.getOrDefault(reading, "{}"));
            reading = NodeAnnotations.REPAIR;
            Map<String, Object> now = Json.readObject(texts.getOrDefault(reading, "{}"));
            Map<String, Object> next = JsonTrees.object(now, "next");
            Map<String, Object> person = JsonTrees.object(now, "person");
            String drain = JsonTrees.text(now, NodeAnnotations.REPAIR_DRAIN);
            return new RepairRecord(
                    history,
                    session(state, now),
                    Set.copyOf(JsonTrees.textList(now, "made")),
                    drain.isEmpty() ? Optional.empty() : Optional.of(drain),
                    next.isEmpty() ? Optional.empty() : Optional.of(Repair.read(next)),
                    person.isEmpty()
                            ? Optional.empty()
                            : Optional.of(new Person(
                                    JsonTrees.text(person, "task"), Instant.parse(JsonTrees.text(person, "since")))));
        } catch (IOException | DateTimeException e) {
            String why = Text.truncate(String.valueOf(e.getMessage()), LONGEST_CAUSE);
            throw new IOException(
                    "its annotation " + reading + " cannot be read: " + why
                            + "; correct it, or remove it: kubectl annotate node " + node.name() + " " + reading + "-",
                    e);
        }
    }

    private static List<Map<String, Object>> list(String text) throws IOException {
        if (Json.read(text) instanceof List<?> list) {
            return JsonTrees.objects(list);
        }
        throw new IOException("expected a JSON list, found " + text);
    }

    private static Set<String> session(Map<String, Object> state, Map<String, Object> now) {
        Map<String, Object> groups = JsonTrees.object(state, GROUPS);
        if (groups.isEmpty()) {
            // An operator has removed the annotation, and with it the attempts of this quarantine.
            return Set.of();
        }
        return Stream.concat(
                        groups.keySet().stream()
                                .map(group -> JsonTrees.text(JsonTrees.object(groups, group), RESOURCE)),
                        JsonTrees.textList(now, EARLIER).stream())
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toCollection(HashSet::new));
    }

    /** Returns true if another program has written NVSentinel's annotation last. */
    static boolean isForeign(CachedNode node) {
        String owned = "f:" + NodeAnnotations.REMEDIATION_STATE;
        return node.annotations().containsKey(NodeAnnotations.REMEDIATION_STATE)
                && JsonTrees.objects(JsonTrees.object(node.tree(), "metadata"), "managedFields").stream()
                        .filter(fields -> JsonTrees.text(fields, "manager").equals(MANAGER))
                        .map(fields -> JsonTrees.object(JsonTrees.object(fields, "fieldsV1"), "f:metadata"))
                        .noneMatch(fields ->
                                JsonTrees.object(fields, "f:annotations").containsKey(owned));
    }

    /**
     * Returns the patch that writes the record; empty if the Node has it already. It fails if the quarantine, the drain or the
     * record has changed.
     */
    static List<Map<String, Object>> patch(CachedNode node, RepairRecord record) {
        NodePatch patch = new NodePatch(node);
        patch.annotate(
                NodeAnnotations.REPAIRS, record.history().isEmpty() ? Optional.empty() : Optional.of(history(record)));
        state(record).ifPresent(text -> patch.annotate(NodeAnnotations.REMEDIATION_STATE, Optional.of(text)));
        patch.annotate(NodeAnnotations.REPAIR, now(record));
        label(record).ifPresent(label -> patch.label(NodeAnnotations.STATE, Optional.of(label)));
        Map<String, Object> tests = new HashMap<>();
        tests.put("/spec/unschedulable", true);
        for (String name : List.of(
                NodeAnnotations.EVENTS,
                NodeAnnotations.DRAIN,
                NodeAnnotations.REPAIR,
                NodeAnnotations.REPAIRS,
                NodeAnnotations.REMEDIATION_STATE)) {
            Optional.ofNullable(node.annotations().get(name))
                    .ifPresent(text -> tests.put(NodePatch.annotation(name), text));
        }
        return patch.operations(tests);
    }

    private static String history(RepairRecord record) {
        return Json.write(record.history().stream().map(Repair::tree).toList());
    }

    /** Returns NVSentinel's annotation: the last attempt of each group. Empty before the first of a quarantine. */
    private static Optional<String> state(RepairRecord record) {
        Map<String, Object> groups = new LinkedHashMap<>();
        record.inSession().forEach(repair -> {
            ResourceKind kind = repair.group().kind().resources();
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("kind", kind.kind());
            tree.put(RESOURCE, repair.resource());
            tree.put("createdAt", repair.at().toString());
            tree.put("actionName", repair.action());
            tree.put("apiGroup", kind.group());
            tree.put("version", kind.version());
            groups.put(repair.group().name(), tree);
        });
        return groups.isEmpty() ? Optional.empty() : Optional.of(Json.write(Map.of(GROUPS, groups)));
    }

    private static Optional<String> now(RepairRecord record) {
        Map<String, Object> tree = new LinkedHashMap<>();
        Set<String> open = record.inSession()
                .filter(repair -> repair.inProgress() && record.made().contains(repair.resource()))
                .map(Repair::resource)
                .collect(Collectors.toCollection(TreeSet::new));
        if (!open.isEmpty()) {
            tree.put("made", List.copyOf(open));
        }
        Set<String> earlier = record.earlier();
        if (!earlier.isEmpty()) {
            tree.put(EARLIER, List.copyOf(earlier));
        }
        record.drain().ifPresent(why -> tree.put(NodeAnnotations.REPAIR_DRAIN, why));
        record.next().ifPresent(next -> tree.put("next", next.tree()));
        record.person()
                .ifPresent(person -> tree.put(
                        "person",
                        Map.of("task", person.task(), "since", person.since().toString())));
        return tree.isEmpty() ? Optional.empty() : Optional.of(Json.write(tree));
    }

    /** Returns NVSentinel's label; empty if the repair has not begun. */
    private static Optional<String> label(RepairRecord record) {
        if (record.inSession().anyMatch(Repair::inProgress)) {
            return Optional.of(NodeAnnotations.REMEDIATING);
        }
        if (record.person().isPresent()) {
            return Optional.of("remediation-failed");
        }
        return record.inSession()
                .filter(repair -> !repair.withdrawn() && !repair.postponed())
                .reduce((a, b) -> b)
                .flatMap(Repair::result)
                .map(last -> last.outcome() == Outcome.SUCCEEDED ? "remediation-succeeded" : "remediation-failed");
    }
}
