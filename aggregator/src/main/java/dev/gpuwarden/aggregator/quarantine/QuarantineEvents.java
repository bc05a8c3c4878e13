package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.nodestatus.NodeNews;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import java.time.Instant;
import java.util.Optional;

/** The Events of a Node's quarantine. Pure. */
public final class QuarantineEvents {

    private QuarantineEvents() {}

    /** Returns the Event for the Node's annotations; a later call returns the same. Empty without a decision on the Node. */
    public static Optional<NodeNews> of(CachedNode node) {
        Optional<Instant> at = node.time(NodeAnnotations.DECIDED);
        if (at.isEmpty()) {
            return Optional.empty();
        }
        if (node.annotations().containsKey(NodeAnnotations.EVENTS)) {
            String why = node.annotations().getOrDefault(NodeAnnotations.REASON, "");
            return Optional.of(new NodeNews("Quarantined", why, false, at.get()));
        }
        if (NodeAnnotations.isTrue(node.annotations(), NodeAnnotations.UNCORDONED_MANUALLY)
                || NodeAnnotations.isTrue(node.annotations(), NodeAnnotations.UNTAINTED_MANUALLY)) {
            String text = "An operator uncordoned or untainted the node: those faults do not bring it back, others do.";
            return Optional.of(new NodeNews("QuarantineCancelled", text, true, at.get()));
        }
        String text = "None of the faults that held it is left."
                + (node.unschedulable() ? " It stays cordoned by another writer." : "");
        return Optional.of(new NodeNews("ReturnedToService", text, true, at.get()));
    }

    /** Returns the Event for a decision of a dry run; empty if the decision changes nothing. */
    public static Optional<NodeNews> would(Decision decision, Instant now) {
        return decision instanceof Decision.Act act
                ? Optional.of(new NodeNews("DryRun", act.kind() + ": " + act.reason(), true, now))
                : Optional.empty();
    }
}
