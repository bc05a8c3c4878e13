package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.CachedNode.Taint;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Label;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.util.JsonTrees;
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
 * The state of a quarantine, as stored on the Node. No other state is kept.
 *
 * @param active true if the node is in quarantine
 * @param held the keys of the faults that put it there, as far as they are listed
 * @param cordonPreExisting true if the node was cordoned before its quarantine, and stays cordoned after it
 * @param byMonitors true if only monitors, and not the node itself, reported these faults
 * @param cancelled the digests of {@link Cancelled} faults
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

    /** @throws IOException if an annotation of the quarantine cannot be read */
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

    /** Returns true if the quarantine keeps pods off the node. */
    boolean takesCapacity() {
        return active
                && (cordoned
                        || taints.stream().anyMatch(applied -> applied.taint().takesCapacity()));
    }

    /** Returns the annotation that records an operator's undoing of a part of the quarantine; empty if nothing was undone. */
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
     * A label that the quarantine applies.
     *
     * @param priority the priority of the winning rule set
     * @param previous the former value from another writer, which is restored at the end; empty without one
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
     * A taint that the quarantine applies.
     *
     * @param priority the priority of the winning rule set
     * @param preExisting true if another writer had set the same taint before; it then stays at the end
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

    /** Returns true for a fault that an operator accepts. */
    boolean cancelled(Fault fault) {
        return !cancelled.isEmpty() && cancelled.contains(Cancelled.digest(fault));
    }

    /**
     * The faults that an operator accepts. A fault that ends and comes back is a new one: its digest contains its start time.
     */
    public static final class Cancelled {

        private static final int DIGITS = 12;

        private Cancelled() {}

        static String digest(Fault fault) {
            return Sha256.hex(FaultReport.identity(fault), DIGITS);
        }

        /** Returns the digests in sorted order, so the same faults give the same text. */
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
