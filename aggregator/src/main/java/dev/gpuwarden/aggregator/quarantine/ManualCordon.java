package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An operator's cordon or release of one node, beside the automatic quarantine. Pure. */
public final class ManualCordon {

    static final int LONGEST_REASON = 512;

    private ManualCordon() {}

    /**
     * The result of a cordon or release, and the patch that carries it out.
     *
     * @param done true if the node will be in the requested state; if false, {@code why} states the obstacle
     * @param patch one JSON patch for exactly the version that was read; empty if nothing must be written
     */
    public record Plan(boolean done, String why, List<Map<String, Object>> patch) {}

    /** Plans a cordon. The node accepts no more pods until an operator releases it, even after its faults end. */
    public static Plan cordon(CachedNode node, String reason, String who) {
        QuarantineState session;
        try {
            session = QuarantineState.of(node);
        } catch (IOException e) {
            return refused(e.getMessage() + ": repair or remove them");
        }
        NodePatch patch = new NodePatch(node);
        patch.annotate(NodeAnnotations.CORDONED_BY_HAND, Optional.of(text(reason, who)));
        if (session.cordoned()) {
            patch.annotate(NodeAnnotations.CORDON_PRE_EXISTING, Optional.of(NodeAnnotations.TRUE));
            return new Plan(true, "it is in quarantine, and will stay cordoned afterwards", patch.operations());
        }
        boolean others = node.unschedulable() && !node.annotations().containsKey(NodeAnnotations.CORDONED_BY_HAND);
        if (others) {
            return new Plan(true, "it was cordoned already, and stays cordoned", List.of());
        }
        patch.unschedulable(true);
        return new Plan(true, "it takes no new pods; running pods continue", patch.operations());
    }

    /** Plans the end of the quarantine and of {@link #cordon}. The faults that the node has now do not quarantine it again. */
    public static Plan release(CachedNode node) {
        QuarantineState session;
        try {
            session = QuarantineState.of(node);
        } catch (IOException e) {
            return refused(e.getMessage() + ": repair or remove them");
        }
        boolean byHand = node.annotations().containsKey(NodeAnnotations.CORDONED_BY_HAND);
        if (session.active() && !session.cordoned()) {
            return refused(
                    session.taints().stream().allMatch(QuarantineState.AppliedTaint::preExisting)
                            ? "its quarantine has neither a cordon nor a taint of its own: it ends with its faults"
                            : "its quarantine is no cordon: remove one of its taints with kubectl");
        }
        if (session.cordoned() && session.cordonPreExisting() && !byHand) {
            return refused("another writer had cordoned it before its quarantine: kubectl uncordon ends both");
        }
        if (node.unschedulable() && !session.cordoned() && !byHand) {
            return refused("this program has not cordoned it: kubectl uncordon does it");
        }
        NodePatch patch = new NodePatch(node);
        patch.annotate(NodeAnnotations.CORDONED_BY_HAND, Optional.empty());
        patch.unschedulable(false);
        return new Plan(
                true,
                session.cordoned()
                        ? "its quarantine ends: the faults that it has do not bring it back, others do"
                        : node.unschedulable() ? "it takes pods again" : "it was in service already",
                patch.operations());
    }

    /** Returns the operator and the reason of a cordon made by this program; empty without such a cordon. */
    public static Optional<String> reason(CachedNode node) {
        return Optional.ofNullable(node.annotations().get(NodeAnnotations.CORDONED_BY_HAND));
    }

    private static String text(String reason, String who) {
        String text = who + (reason.isEmpty() ? "" : ": " + reason);
        return Text.truncate(text, LONGEST_REASON);
    }

    private static Plan refused(String why) {
        return new Plan(false, why, List.of());
    }
}
