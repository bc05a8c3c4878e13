package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;

/**
 * A Kubernetes Event about a Node's quarantine.
 *
 * @param reason the Event's reason, one word in camel case
 * @param good true for an Event of type Normal, false for a warning
 * @param at the time of the decision
 */
public record QuarantineEvents(String reason, String text, boolean good, Instant at) {

    /** Returns the Event for the Node's annotations; a later call returns the same. Empty without a decision on the Node. */
    public static Optional<QuarantineEvents> of(CachedNode node) {
        Optional<Instant> at = decided(node);
        if (at.isEmpty()) {
            return Optional.empty();
        }
        if (node.annotations().containsKey(NodeAnnotations.EVENTS)) {
            String why = node.annotations().getOrDefault(NodeAnnotations.REASON, "");
            return Optional.of(new QuarantineEvents("Quarantined", why, false, at.get()));
        }
        if (NodeAnnotations.isTrue(node.annotations(), NodeAnnotations.UNCORDONED_MANUALLY)
                || NodeAnnotations.isTrue(node.annotations(), NodeAnnotations.UNTAINTED_MANUALLY)) {
            String text = "An operator uncordoned or untainted the node: those faults do not bring it back, others do.";
            return Optional.of(new QuarantineEvents("QuarantineCancelled", text, true, at.get()));
        }
        String text = "None of the faults that held it is left."
                + (node.unschedulable() ? " It stays cordoned by another writer." : "");
        return Optional.of(new QuarantineEvents("ReturnedToService", text, true, at.get()));
    }

    /** Returns the Event for a decision of a dry run; empty if the decision changes nothing. */
    public static Optional<QuarantineEvents> would(Decision decision, Instant now) {
        return decision instanceof Decision.Act act
                ? Optional.of(new QuarantineEvents("DryRun", act.kind() + ": " + act.reason(), true, now))
                : Optional.empty();
    }

    private static Optional<Instant> decided(CachedNode node) {
        try {
            return Optional.ofNullable(node.annotations().get(NodeAnnotations.DECIDED))
                    .map(Instant::parse);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
