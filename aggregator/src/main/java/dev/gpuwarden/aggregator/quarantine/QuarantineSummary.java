package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import dev.gpuwarden.aggregator.quarantine.QuarantineState.Cancelled;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What a Node's marks, its faults and the rules say of its quarantine, for those who only look. Pure.
 *
 * @param active whether it is in quarantine
 * @param cordoned whether that has cordoned it
 * @param cordonPreExisting whether it was cordoned before, and stays so
 * @param since when it was taken out of service; empty where nothing tells
 * @param reason what was written when it was decided; empty out of quarantine
 * @param holding faults that hold it, or would
 * @param rules rule sets that its faults meet now
 * @param unanswered rule sets that could not answer, with why
 * @param cancelled current faults that somebody has decided to live with
 * @param optOut the label that says to leave it alone
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

    /** @throws IOException naming the annotation that is not what was written */
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
                current.stream()
                        .filter(fault -> session.cancelled().contains(Cancelled.digest(fault)))
                        .toList(),
                NodeAnnotations.OPT_OUT.stream()
                        .filter(label -> "false".equalsIgnoreCase(node.labels().get(label)))
                        .findFirst());
    }

    /** Whether the Node says that it is in quarantine, readable or not. */
    public static boolean marked(CachedNode node) {
        return node.annotations().containsKey(NodeAnnotations.EVENTS);
    }

    /**
     * What was written on the Node of the events that hold it there, in the same patch as its cordon.
     *
     * @return empty out of quarantine
     * @throws IOException where that cannot be read
     */
    public static List<HealthEvent> holding(CachedNode node) throws IOException {
        String events = node.annotations().get(NodeAnnotations.EVENTS);
        return events == null ? List.of() : HealthEventJson.events(events);
    }

    /** Whether anything of this program's is on the Node, from now or before. */
    public static boolean touched(CachedNode node) {
        return NodeAnnotations.ANNOTATIONS.stream().anyMatch(node.annotations()::containsKey)
                || node.labels().containsKey(NodeAnnotations.STATE)
                || !JsonTrees.objects(JsonTrees.object(node.tree(), "metadata"), "managedFields")
                        .isEmpty();
    }

    /** What the breaker let through stands there from the last time where this time it was not asked. */
    private static Optional<Instant> since(CachedNode node) {
        return CordonLabels.since(node)
                .or(() -> time(node, NodeAnnotations.LET_THROUGH))
                .or(() -> time(node, NodeAnnotations.DECIDED));
    }

    private static Optional<Instant> time(CachedNode node, String annotation) {
        try {
            return Optional.ofNullable(node.annotations().get(annotation)).map(Instant::parse);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
