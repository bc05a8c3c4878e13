package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.json.JsonText;
import dev.gpuwarden.aggregator.json.Trees;
import dev.gpuwarden.aggregator.rules.Label;
import dev.gpuwarden.aggregator.rules.Taint;
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
record Session(
        boolean active,
        Set<FaultKey> held,
        List<AppliedTaint> taints,
        List<AppliedLabel> labels,
        boolean cordoned,
        boolean cordonPreExisting,
        boolean byMonitors,
        Set<String> cancelled) {

    /** @throws IOException naming the annotation that is not what was written */
    static Session of(NodeRead node) throws IOException {
        Map<String, String> annotations = node.annotations();
        String events = annotations.get(Marks.EVENTS);
        try {
            return new Session(
                    events != null,
                    events == null ? Set.of() : EventsText.read(events),
                    taints(annotations.getOrDefault(Marks.TAINTS, "[]")),
                    labels(annotations.getOrDefault(Marks.LABELS, "[]")),
                    Marks.isTrue(annotations, Marks.CORDONED),
                    Marks.isTrue(annotations, Marks.CORDON_PRE_EXISTING),
                    Marks.isTrue(annotations, Marks.BY_MONITORS),
                    Cancelled.read(annotations.getOrDefault(Marks.CANCELLED, "")));
        } catch (IOException e) {
            throw new IOException("annotations quarantineHealthEvent* cannot be read: " + e.getMessage(), e);
        }
    }

    private static List<AppliedTaint> taints(String text) throws IOException {
        List<AppliedTaint> taints = new ArrayList<>();
        for (Map<String, Object> tree : items(text)) {
            Taint taint = NodeRead.taint(tree);
            taints.add(new AppliedTaint(taint, Trees.number(tree, "priority"), Trees.isTrue(tree, "preExisting")));
        }
        return taints;
    }

    private static List<AppliedLabel> labels(String text) throws IOException {
        List<AppliedLabel> labels = new ArrayList<>();
        for (Map<String, Object> tree : items(text)) {
            labels.add(new AppliedLabel(
                    new Label(Trees.text(tree, "key"), Trees.text(tree, "value")),
                    Trees.number(tree, "priority"),
                    tree.get("previous") instanceof String previous ? Optional.of(previous) : Optional.empty()));
        }
        return labels;
    }

    private static List<Map<String, Object>> items(String text) throws IOException {
        if (JsonText.read(text) instanceof List<?> list) {
            return Trees.objects(list).stream().map(EventsText::lower).toList();
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
    Optional<String> undoneOn(NodeRead node) {
        if (!active) {
            return Optional.empty();
        }
        if (cordoned && !node.unschedulable()) {
            return Optional.of(Marks.UNCORDONED_MANUALLY);
        }
        return taints.stream().anyMatch(applied -> !applied.preExisting() && !node.has(applied.taint()))
                ? Optional.of(Marks.UNTAINTED_MANUALLY)
                : Optional.empty();
    }
}
