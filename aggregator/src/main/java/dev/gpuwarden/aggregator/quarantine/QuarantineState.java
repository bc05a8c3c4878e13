package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.cache.Taint;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Label;
import dev.gpuwarden.core.event.FaultKey;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a Node says of its own quarantine: all that is remembered.
 *
 * @param active whether it is in quarantine
 * @param held faults that put it there, as far as they are listed
 * @param cordonPreExisting whether it was cordoned already when it came into quarantine: it stays so
 * @param byMonitors whether the node itself has told of none of them
 * @param cancelled digests of {@link Cancelled} faults
 */
record QuarantineState(
        boolean active,
        Set<FaultKey> held,
        List<AppliedTaint> taints,
        List<AppliedLabel> labels,
        boolean cordoned,
        boolean cordonPreExisting,
        boolean byMonitors,
        Set<String> cancelled) {

    /** @throws IOException naming the annotation that is not what was written */
    static QuarantineState of(CachedNode node) throws IOException {
        Map<String, String> annotations = node.annotations();
        String events = annotations.get(NodeAnnotations.EVENTS);
        try {
            return new QuarantineState(
                    events != null,
                    events == null ? Set.of() : HealthEventJson.read(events),
                    taints(annotations.getOrDefault(NodeAnnotations.TAINTS, "[]")),
                    labels(annotations.getOrDefault(NodeAnnotations.LABELS, "[]")),
                    NodeAnnotations.isTrue(annotations, NodeAnnotations.CORDONED),
                    NodeAnnotations.isTrue(annotations, NodeAnnotations.CORDON_PRE_EXISTING),
                    NodeAnnotations.isTrue(annotations, NodeAnnotations.BY_MONITORS),
                    Cancelled.read(annotations.getOrDefault(NodeAnnotations.CANCELLED, "")));
        } catch (IOException e) {
            throw new IOException("annotations quarantineHealthEvent* cannot be read: " + e.getMessage(), e);
        }
    }

    private static List<AppliedTaint> taints(String text) throws IOException {
        List<AppliedTaint> taints = new ArrayList<>();
        for (Map<String, Object> tree : items(text)) {
            Taint taint = CachedNode.taint(tree);
            taints.add(
                    new AppliedTaint(taint, JsonTrees.number(tree, "priority"), JsonTrees.isTrue(tree, "preExisting")));
        }
        return taints;
    }

    private static List<AppliedLabel> labels(String text) throws IOException {
        List<AppliedLabel> labels = new ArrayList<>();
        for (Map<String, Object> tree : items(text)) {
            labels.add(new AppliedLabel(
                    new Label(JsonTrees.text(tree, "key"), JsonTrees.text(tree, "value")),
                    JsonTrees.number(tree, "priority"),
                    tree.get("previous") instanceof String previous ? Optional.of(previous) : Optional.empty()));
        }
        return labels;
    }

    private static List<Map<String, Object>> items(String text) throws IOException {
        if (Json.read(text) instanceof List<?> list) {
            return JsonTrees.objects(list).stream().map(HealthEventJson::lower).toList();
        }
        throw new IOException("expected a JSON list, found " + text);
    }

    /** Whether it keeps pods away. */
    boolean takesCapacity() {
        return active
                && (cordoned
                        || taints.stream().anyMatch(applied -> applied.taint().takesCapacity()));
    }

    /** Which mark to leave because a person has undone something of it; empty if nobody has. */
    Optional<String> undoneOn(CachedNode node) {
        if (!active) {
            return Optional.empty();
        }
        if (cordoned && !node.unschedulable()) {
            return Optional.of(NodeAnnotations.UNCORDONED_MANUALLY);
        }
        return taints.stream().anyMatch(applied -> !applied.preExisting() && !node.has(applied.taint()))
                ? Optional.of(NodeAnnotations.UNTAINTED_MANUALLY)
                : Optional.empty();
    }
}
