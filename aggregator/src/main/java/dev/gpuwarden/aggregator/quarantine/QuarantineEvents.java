package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;

/**
 * What there is to be told of a Node's quarantine, for an Event of Kubernetes.
 *
 * @param reason one word in camel case
 * @param good whether it is nothing to worry about
 * @param at when it was decided
 */
public record QuarantineEvents(String reason, String text, boolean good, Instant at) {

    /** From what lies on the Node: whoever asks later gets the same. */
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
            String text =
                    "Somebody uncordoned or untainted the node: the faults it had then do not bring it back, others do.";
            return Optional.of(new QuarantineEvents("QuarantineCancelled", text, true, at.get()));
        }
        String text = "None of the faults that held it is left."
                + (node.unschedulable() ? " It stays cordoned, which is somebody else's." : "");
        return Optional.of(new QuarantineEvents("ReturnedToService", text, true, at.get()));
    }

    /** Of a decision that is not carried out. */
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
