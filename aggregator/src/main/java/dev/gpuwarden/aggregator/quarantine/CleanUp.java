package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.quarantine.NodePatch.CordonLabels;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The removal of this program's own marks from a Node before the program leaves the cluster. Marks of other writers stay. The
 * conditions and other applied fields are not included: the API server records their field manager. Pure.
 *
 * @param takes the parts that are removed, as text for the operator
 * @param stays the parts that stay, each with the reason
 * @param patch one JSON patch for exactly the version that was read; empty if nothing must be written
 */
public record CleanUp(List<String> takes, List<String> stays, List<Map<String, Object>> patch) {

    /** The annotations that only this program writes. */
    private static final List<String> OWN = List.of(
            NodeAnnotations.REASON,
            NodeAnnotations.BY_MONITORS,
            NodeAnnotations.CANCELLED,
            NodeAnnotations.LET_THROUGH,
            NodeAnnotations.DECIDED,
            NodeAnnotations.DRAIN,
            NodeAnnotations.REPAIR,
            NodeAnnotations.REPAIR_APPROVED,
            NodeAnnotations.REPAIRS,
            NodeAnnotations.CORDONED_BY_HAND);

    /** @throws IOException if the quarantine annotations cannot be read: the owner of the cordon is then unknown */
    public static CleanUp of(CachedNode node) throws IOException {
        QuarantineState session = QuarantineState.of(node);
        NodePatch patch = new NodePatch(node);
        List<String> stays = new ArrayList<>();
        // NVSentinel writes the same annotations, but not this one.
        boolean ours = node.annotations().containsKey(NodeAnnotations.REASON);
        boolean cordonGoes = false;
        if (session.active() && ours) {
            QuarantineDecider.undo(node, session, patch);
            cordonGoes = session.cordoned() && !session.cordonPreExisting();
        } else if (session.active()) {
            stays.add("a quarantine that another program has put there");
        }
        if (node.unschedulable() && cordonGoes) {
            patch.unschedulable(false);
        } else if (node.unschedulable()) {
            stays.add(ManualCordon.reason(node)
                    .map(why -> "the cordon of " + why)
                    .orElse("a cordon that this program has not made"));
        }
        if (node.annotations().containsKey(NodeAnnotations.DECIDED)) {
            patch.annotate(NodeAnnotations.UNCORDONED_MANUALLY, Optional.empty());
            patch.annotate(NodeAnnotations.UNTAINTED_MANUALLY, Optional.empty());
        }
        OWN.forEach(name -> patch.annotate(name, Optional.empty()));
        CordonLabels.forgotten(patch, node);
        List<Map<String, Object>> operations = patch.operations();
        return new CleanUp(
                operations.stream().flatMap(each -> text(each).stream()).toList(), List.copyOf(stays), operations);
    }

    private static Optional<String> text(Map<String, Object> operation) {
        String path = String.valueOf(operation.get("path"));
        if (String.valueOf(operation.get("op")).equals("test")) {
            return Optional.empty();
        }
        String name =
                path.substring(path.lastIndexOf('/') + 1).replace("~1", "/").replace("~0", "~");
        return Optional.of(
                path.startsWith("/metadata/annotations/")
                        ? "annotation " + name
                        : path.startsWith("/metadata/labels/")
                                ? "label " + name
                                : path.equals("/spec/taints") ? "taints of the quarantine" : "the cordon");
    }
}
