package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.quarantine.NodePatch.CordonLabels;
import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A node's quarantine for display, from the Node's annotations, its faults and the rules. Pure.
 *
 * @param active true if the node is in quarantine
 * @param cordoned true if the quarantine cordons the node
 * @param cordonPreExisting true if the node was cordoned before, and stays cordoned after it
 * @param since the time at which it was taken out of service; empty if unknown
 * @param reason the reason on the Node since the decision; empty out of quarantine
 * @param holding the faults that hold the node in quarantine, or would
 * @param rules the names of the rule sets that match its faults now
 * @param unanswered the rule sets that could not be evaluated, each with the reason
 * @param cancelled the current faults that an operator accepts
 * @param optOut the label that excludes the node from quarantine; empty without one
 */
public record QuarantineSummary(
        boolean active,
        boolean cordoned,
        boolean cordonPreExisting,
        Optional<Instant> since,
        String reason,
        List<Fault> holding,
        List<String> rules,
        List<String> unanswered,
        List<Fault> cancelled,
        Optional<String> optOut) {

    /** @throws IOException if an annotation of the quarantine cannot be read */
    public static QuarantineSummary of(CachedNode node, List<Fault> current, RuleEvaluator rules) throws IOException {
        QuarantineState session = QuarantineState.of(node);
        QuarantineReasons held = QuarantineReasons.of(current, session, rules, node.forRules());
        return new QuarantineSummary(
                session.active(),
                session.active() && session.cordoned(),
                session.active() && session.cordonPreExisting(),
                session.active() ? since(node) : Optional.empty(),
                session.active() ? node.annotations().getOrDefault(NodeAnnotations.REASON, "") : "",
                held.faults(),
                Explanation.names(held.met()),
                held.unanswered().stream()
                        .map(each -> each.ruleSet() + ": " + each.why())
                        .toList(),
                current.stream().filter(session::cancelled).toList(),
                NodeAnnotations.OPT_OUT.stream()
                        .filter(label -> "false".equalsIgnoreCase(node.labels().get(label)))
                        .findFirst());
    }

    /** Returns the reason why no rule set takes the node out of service, with the disabled ones that its fatal faults would meet. */
    public static String noRule(CachedNode node, List<Fault> current, RuleEvaluator rules) {
        Map<String, Object> tree = node.forRules();
        List<String> disabled = current.stream()
                .map(Fault::cause)
                .filter(cause -> cause.fatal() && cause.strategy().actedOn())
                .distinct()
                .flatMap(cause -> rules.disabledFor(cause, tree).stream())
                .distinct()
                .toList();
        return "no rule set asks to take it out of service"
                + (disabled.isEmpty() ? "" : "; disabled: " + String.join(", ", disabled));
    }

    /** Returns true if the Node has the annotation of a quarantine, readable or not. */
    public static boolean marked(CachedNode node) {
        return node.annotations().containsKey(NodeAnnotations.EVENTS);
    }

    /**
     * Returns the events that hold the Node, from the annotation written in the same patch as its cordon.
     *
     * @return the events; empty out of quarantine
     * @throws IOException if the annotation cannot be read
     */
    public static List<HealthEvent> holding(CachedNode node) throws IOException {
        String events = node.annotations().get(NodeAnnotations.EVENTS);
        return events == null ? List.of() : HealthEventJson.events(events);
    }

    /** Returns true if the Node has any mark of this program, current or former. */
    public static boolean touched(CachedNode node) {
        return NodeAnnotations.ANNOTATIONS.stream().anyMatch(node.annotations()::containsKey)
                || node.labels().containsKey(NodeAnnotations.STATE)
                || !JsonTrees.objects(JsonTrees.object(node.tree(), "metadata"), "managedFields")
                        .isEmpty();
    }

    /**
     * The label comes first: if the breaker was not needed this time, LET_THROUGH still has the time of an earlier quarantine.
     */
    private static Optional<Instant> since(CachedNode node) {
        return CordonLabels.since(node)
                .or(() -> node.time(NodeAnnotations.LET_THROUGH))
                .or(() -> node.time(NodeAnnotations.DECIDED));
    }
}
