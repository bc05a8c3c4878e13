package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import dev.gpuwarden.aggregator.quarantine.QuarantineState.AppliedLabel;
import dev.gpuwarden.aggregator.quarantine.QuarantineState.AppliedTaint;
import dev.gpuwarden.aggregator.quarantine.QuarantineState.Cancelled;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.Fault;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Decides about one node. Pure: the same node, faults and rules give the same decision, and once its patch is on the node, none.
 *
 * <p>Everything that must be remembered is on the Node itself, so a restart forgets nothing and replays nothing.
 */
public final class QuarantineDecider {

    private final CachedNode node;
    private final FaultReport report;
    private final RuleEvaluator rules;
    private final Function<CachedNode, BreakerPolicy.Answer> breaker;
    private final boolean forcePasses;
    private final ActionMode mode;
    private final Instant now;

    private QuarantineDecider(
            CachedNode node,
            FaultReport report,
            RuleEvaluator rules,
            Function<CachedNode, BreakerPolicy.Answer> breaker,
            boolean forcePasses,
            ActionMode mode,
            Instant now) {
        this.node = node;
        this.report = report;
        this.rules = rules;
        this.breaker = breaker;
        this.forcePasses = forcePasses;
        this.mode = mode;
        this.now = now;
    }

    /**
     * @param breaker asked once, and only if the node is to be taken out of service: it is if the answer allows it
     * @param now for the audit, and for when it was
     */
    public static Decision decide(
            CachedNode node,
            FaultReport report,
            RuleEvaluator rules,
            Function<CachedNode, BreakerPolicy.Answer> breaker,
            ActionMode mode,
            Instant now) {
        return decide(node, report, rules, breaker, false, mode, now);
    }

    /** @param forcePasses whether the breaker is not asked about a node that a sender forces out of service */
    static Decision decide(
            CachedNode node,
            FaultReport report,
            RuleEvaluator rules,
            Function<CachedNode, BreakerPolicy.Answer> breaker,
            boolean forcePasses,
            ActionMode mode,
            Instant now) {
        return new QuarantineDecider(node, report, rules, breaker, forcePasses, mode, now).decide();
    }

    private Decision decide() {
        Optional<String> unfit = report.unfitFor(node);
        if (unfit.isPresent()) {
            return leave(unfit.get());
        }
        for (String label : NodeAnnotations.OPT_OUT) {
            if ("false".equalsIgnoreCase(node.labels().get(label))) {
                return leave("the node's label " + label + "=false says to leave it alone");
            }
        }
        QuarantineState session;
        try {
            session = QuarantineState.of(node);
        } catch (IOException e) {
            return leave(e.getMessage() + ": repair or remove them");
        }
        if (report.monitorsAlone() && session.active() && !session.byMonitors()) {
            return leave("stays in quarantine for what it has told itself: " + report.why());
        }
        QuarantineReasons held = QuarantineReasons.of(report.faults(), session, rules, node.forRules());
        Optional<String> undone = session.undoneOn(node);
        if (undone.isPresent()) {
            return cancel(session, held, undone.get());
        }
        if (!held.faults().isEmpty()) {
            return hold(session, held);
        }
        return session.active()
                ? giveBack(session, held)
                : leave("no fault that a rule asks to act on" + (report.monitorsAlone() ? "; " + report.why() : ""));
    }

    private static Decision leave(String reason) {
        return new Decision.Leave(reason, false);
    }

    private Decision hold(QuarantineState session, QuarantineReasons held) {
        DesiredTaintsAndLabels effects = DesiredTaintsAndLabels.of(session, held.met(), node);
        if (!session.active()
                && !effects.cordon()
                && effects.taints().isEmpty()
                && effects.labels().isEmpty()) {
            return leave("rules are met, but all that they ask for is in the way of others' taints");
        }
        boolean charges = effects.takeCapacity() && !session.takesCapacity() && !(held.forced() && forcePasses);
        Optional<BreakerPolicy.Answer> passed = charges ? Optional.of(breaker.apply(node)) : Optional.empty();
        if (passed.isPresent() && !passed.get().allowed()) {
            return new Decision.Leave(passed.get().reason(), true);
        }
        NodePatch patch = new NodePatch(node);
        boolean cordons = effects.cordon() && !session.cordoned();
        boolean preExisting = session.cordoned() ? session.cordonPreExisting() : cordons && node.unschedulable();
        patch.unschedulable(effects.cordon() || node.unschedulable());
        patch.annotate(NodeAnnotations.EVENTS, Optional.of(HealthEventJson.write(held.events())));
        patch.annotate(NodeAnnotations.REASON, Optional.of(Explanation.of(held, effects, report.names())));
        patch.annotate(NodeAnnotations.CORDONED, mark(effects.cordon()));
        patch.annotate(NodeAnnotations.CORDON_PRE_EXISTING, mark(preExisting));
        patch.annotate(
                NodeAnnotations.BY_MONITORS,
                mark(held.faults().stream().map(Fault::key).allMatch(report.ofMonitors()::contains)));
        patch.annotate(
                NodeAnnotations.TAINTS,
                list(effects.taints().stream().map(AppliedTaint::toTree).toList()));
        patch.annotate(
                NodeAnnotations.LABELS,
                list(effects.labels().stream().map(AppliedLabel::toTree).toList()));
        if (charges) {
            patch.annotate(NodeAnnotations.LET_THROUGH, Optional.of(milli(now)));
        }
        if (cordons) {
            CordonLabels.cordoned(patch, held, now);
        }
        if (!session.active() || !node.labels().containsKey(NodeAnnotations.STATE)) {
            // Else it may be further already: its pods are being drained, or it is being repaired.
            patch.label(NodeAnnotations.STATE, Optional.of(NodeAnnotations.QUARANTINED));
        }
        if (!session.active()) {
            patch.annotate(NodeAnnotations.UNCORDONED_MANUALLY, Optional.empty());
            patch.annotate(NodeAnnotations.UNTAINTED_MANUALLY, Optional.empty());
            patch.annotate(NodeAnnotations.DRAIN, Optional.empty());
        }
        patch.annotate(NodeAnnotations.CANCELLED, stillCancelled(session, List.of()));
        session.taints().stream()
                .filter(applied -> !applied.preExisting() && !effects.taints().contains(applied))
                .forEach(applied -> patch.removeTaint(applied.taint()));
        effects.taints().forEach(applied -> patch.addTaint(applied.taint()));
        effects.labels()
                .forEach(applied -> patch.label(
                        applied.label().key(), Optional.of(applied.label().value())));
        Decision.Kind kind = session.active() ? Decision.Kind.CHANGE : Decision.Kind.QUARANTINE;
        return act(
                kind,
                Explanation.of(held, effects, report.names()),
                patch,
                passed.map(BreakerPolicy.Answer::reason),
                held,
                held.faults());
    }

    private Decision giveBack(QuarantineState session, QuarantineReasons held) {
        if (report.unlisted() > 0) {
            return leave("stays in quarantine: " + report.unlisted() + " faults of it are not listed");
        }
        NodePatch patch = new NodePatch(node);
        undo(node, session, patch);
        patch.unschedulable(node.unschedulable() && (!session.cordoned() || session.cordonPreExisting()));
        if (session.cordoned() && !session.cordonPreExisting()) {
            CordonLabels.uncordoned(patch, now);
        }
        patch.annotate(NodeAnnotations.CANCELLED, stillCancelled(session, List.of()));
        String reason = "none of the faults that held it is left"
                + (session.cordonPreExisting() ? "; stays cordoned, as it was before" : "");
        return act(Decision.Kind.RETURN, reason, patch, Optional.empty(), held, report.faults());
    }

    private Decision cancel(QuarantineState session, QuarantineReasons held, String mark) {
        // Those that came after the youngest one that was listed are news, and may bring the node back.
        Optional<Instant> youngest = held.faults().stream()
                .filter(fault -> session.held().contains(fault.key()))
                .map(Fault::since)
                .max(Instant::compareTo);
        List<Fault> known = held.faults().stream()
                .filter(fault -> youngest.isPresent() && !fault.since().isAfter(youngest.get()))
                .toList();
        NodePatch patch = new NodePatch(node);
        undo(node, session, patch);
        patch.unschedulable(node.unschedulable() && (!session.cordoned() || session.cordonPreExisting()));
        patch.annotate(mark, Optional.of(NodeAnnotations.TRUE));
        patch.annotate(NodeAnnotations.CANCELLED, stillCancelled(session, known));
        String what = mark.equals(NodeAnnotations.UNCORDONED_MANUALLY) ? "uncordoned" : "untainted";
        return act(
                Decision.Kind.CANCEL,
                "somebody " + what + " the node: these faults do not bring it back, others do",
                patch,
                Optional.empty(),
                held,
                known);
    }

    /** All but the cordon. */
    static void undo(CachedNode node, QuarantineState session, NodePatch patch) {
        NodeAnnotations.OF_SESSION.forEach(name -> patch.annotate(name, Optional.empty()));
        patch.label(NodeAnnotations.STATE, Optional.empty());
        CordonLabels.gone(patch);
        session.taints().stream()
                .filter(applied -> !applied.preExisting())
                .forEach(applied -> patch.removeTaint(applied.taint()));
        for (AppliedLabel applied : session.labels()) {
            // What somebody else has made of it since is theirs.
            if (applied.label().value().equals(node.labels().get(applied.label().key()))) {
                patch.label(applied.label().key(), applied.previous());
            }
        }
    }

    /** Those that were, as far as they are current, and these. */
    private Optional<String> stillCancelled(QuarantineState session, Collection<Fault> more) {
        Set<String> digests = new TreeSet<>();
        if (!report.isWhole()) {
            digests.addAll(session.cancelled());
        } else {
            report.faults().stream()
                    .map(Cancelled::digest)
                    .filter(session.cancelled()::contains)
                    .forEach(digests::add);
        }
        more.forEach(fault -> digests.add(Cancelled.digest(fault)));
        return digests.isEmpty() ? Optional.empty() : Optional.of(Cancelled.write(digests));
    }

    private static String milli(Instant time) {
        return time.truncatedTo(ChronoUnit.MILLIS).toString();
    }

    private static Optional<String> mark(boolean set) {
        return set ? Optional.of(NodeAnnotations.TRUE) : Optional.empty();
    }

    private static Optional<String> list(List<Map<String, Object>> items) {
        return items.isEmpty() ? Optional.empty() : Optional.of(Json.write(items));
    }

    private Decision act(
            Decision.Kind kind,
            String reason,
            NodePatch patch,
            Optional<String> breaker,
            QuarantineReasons held,
            List<Fault> faults) {
        if (patch.operations().isEmpty()) {
            return leave("in quarantine already: " + reason);
        }
        patch.annotate(NodeAnnotations.DECIDED, Optional.of(milli(now)));
        List<Map<String, Object>> operations = patch.operations();
        AuditRecord audit = new AuditRecord(
                now,
                node.name(),
                node.uid(),
                node.resourceVersion(),
                mode,
                kind,
                reason,
                Explanation.each(faults, report.names()),
                Explanation.names(held.met()),
                held.unanswered().stream()
                        .map(unanswered -> unanswered.ruleSet() + ": " + unanswered.why())
                        .toList(),
                breaker.orElse(""),
                operations);
        return new Decision.Act(kind, reason, operations, audit);
    }

    /** What is to be done about one node now. */
    public sealed interface Decision {

        /** Why, for people. */
        String reason();

        enum Kind {
            QUARANTINE,
            /** It is in quarantine, and more, fewer or other faults hold it there. */
            CHANGE,
            RETURN,
            /** A person has undone a part of it: the rest goes too, and those faults do not bring it back. */
            CANCEL
        }

        /**
         * @param patch one JSON patch of the Node, that fails if the Node is not as it was read any more
         */
        record Act(Kind kind, String reason, List<Map<String, Object>> patch, AuditRecord audit) implements Decision {

            /** False in a dry run. */
            public boolean writes() {
                return audit.mode() == ActionMode.ARMED;
            }
        }

        /** @param refused whether the breaker said no */
        record Leave(String reason, boolean refused) implements Decision {}
    }
}
