package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.CachedNode.Taint;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Label;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.util.Sha256;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

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

    /**
     * A label that the quarantine asks for.
     *
     * @param priority of the rule set that won it
     * @param previous what somebody else had there before: it is put back at the end
     */
    record AppliedLabel(Label label, int priority, Optional<String> previous) {

        Map<String, Object> toTree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("key", label.key());
            tree.put("value", label.value());
            if (priority != 0) {
                tree.put("priority", (long) priority);
            }
            previous.ifPresent(value -> tree.put("previous", value));
            return tree;
        }
    }

    /**
     * A taint that the quarantine asks for.
     *
     * @param priority of the rule set that won it
     * @param preExisting whether somebody else had put the same one there before: it stays then
     */
    record AppliedTaint(Taint taint, int priority, boolean preExisting) {

        Map<String, Object> toTree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("key", taint.key());
            tree.put("value", taint.value());
            tree.put("effect", taint.effect());
            tree.put("preExisting", preExisting);
            if (priority != 0) {
                tree.put("priority", (long) priority);
            }
            return tree;
        }
    }

    /** Faults that a person has decided to live with. One that ends and comes again is another one: since when is part of it. */
    public static final class Cancelled {

        private static final int DIGITS = 12;

        private Cancelled() {}

        static String digest(Fault fault) {
            FaultKey key = fault.key();
            String text = String.join(
                    "\0",
                    key.agent(),
                    key.componentClass(),
                    key.checkName(),
                    key.entity().type(),
                    key.entity().value(),
                    key.errorCode(),
                    fault.since().toString());
            return Sha256.hex(text, DIGITS);
        }

        /** Sorted: the same faults give the same text. */
        static String write(Collection<String> digests) {
            return String.join(",", new TreeSet<>(digests));
        }

        static Set<String> read(String text) {
            Set<String> digests = new LinkedHashSet<>(java.util.List.of(text.split(",")));
            digests.remove("");
            return digests;
        }
    }
}
