package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a person wants with one node, next to what this program does about it. Pure. */
public final class ManualCordon {

    static final int LONGEST_REASON = 512;

    private ManualCordon() {}

    /**
     * What is to be written, if anything is.
     *
     * @param done whether the node will be as the person wants it; if not, why says what stands against it
     * @param patch one JSON patch, for exactly the version that was read; empty where there is nothing to write
     */
    public record Plan(boolean done, String why, List<Map<String, Object>> patch) {}

    /** Takes no more pods until a person releases it, whatever becomes of its faults. */
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
            return new Plan(true, "it is in quarantine, and will stay cordoned when that is over", patch.operations());
        }
        boolean others = node.unschedulable() && !node.annotations().containsKey(NodeAnnotations.CORDONED_BY_HAND);
        if (others) {
            return new Plan(true, "it was cordoned already, which stays as it is", List.of());
        }
        patch.unschedulable(true);
        return new Plan(true, "it takes no new pods; those that run there go on", patch.operations());
    }

    /** Back into service, out of quarantine and of what {@link #cordon} did: the faults that it has now are lived with. */
    public static Plan release(CachedNode node) {
        QuarantineState session;
        try {
            session = QuarantineState.of(node);
        } catch (IOException e) {
            return refused(e.getMessage() + ": repair or remove them");
        }
        boolean byHand = node.annotations().containsKey(NodeAnnotations.CORDONED_BY_HAND);
        if (session.active() && !session.cordoned()) {
            return refused("its quarantine is no cordon: take away one of its taints or labels with kubectl");
        }
        if (session.cordoned() && session.cordonPreExisting() && !byHand) {
            return refused("somebody had cordoned it before it came into quarantine:" + " kubectl uncordon ends both");
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

    /** Why a person has cordoned it, as it was said; empty where nobody has by this program. */
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
