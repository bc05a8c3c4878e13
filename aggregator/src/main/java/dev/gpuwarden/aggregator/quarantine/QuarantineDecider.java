package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.quarantine.NodePatch.CordonLabels;
import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import dev.gpuwarden.aggregator.quarantine.QuarantineState.AppliedLabel;
import dev.gpuwarden.aggregator.quarantine.QuarantineState.AppliedTaint;
import dev.gpuwarden.aggregator.quarantine.QuarantineState.Cancelled;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.Unanswered;
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
 * The decision about one node. Pure: the same node, faults and rules give the same decision. After its patch is applied, the
 * next decision changes nothing.
 *
 * <p>All state is on the Node itself, so a restart loses nothing and repeats nothing.
 */
public final class QuarantineDecider {

    /** The start of the reason why a node without faults does not return. */
    static final String STAYS = "stays in quarantine: ";

    private final CachedNode node;
    private final FaultReport report;
    private final RuleEvaluator rules;
    private final Function<CachedNode, BreakerPolicy.Answer> breaker;
    private final boolean forcePasses;
    private final ActionMode mode;
    private final Instant now;

    /** @param forcePasses true if a node that a sender forces out of service passes without the breaker */
    QuarantineDecider(
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
     * @param breaker the circuit breaker; called once, only for a node to take out of service, which its answer permits or
     *     refuses
     * @param now the time of the decision, for the audit record and the annotations
     */
    public static Decision decide(
            CachedNode node,
            FaultReport report,
            RuleEvaluator rules,
            Function<CachedNode, BreakerPolicy.Answer> breaker,
            ActionMode mode,
            Instant now) {
        return new QuarantineDecider(node, report, rules, breaker, false, mode, now).decide();
    }

    Decision decide() {
        Optional<String> unfit = report.unfitFor(node);
        if (unfit.isPresent()) {
            return new Decision.Leave(unfit.get(), false, Optional.empty());
        }
        QuarantineState session;
        try {
            session = QuarantineState.of(node);
        } catch (IOException e) {
            return new Decision.Leave(e.getMessage() + ": repair or remove them", false, Optional.empty());
        }
        QuarantineReasons held = QuarantineReasons.of(report.faults(), session, rules, node.forRules());
        for (String label : NodeAnnotations.OPT_OUT) {
            if ("false".equalsIgnoreCase(node.labels().get(label))) {
                return leave("the node's label " + label + "=false excludes it from quarantine", held);
            }
        }
        if (report.monitorsAlone() && session.active() && !session.byMonitors()) {
            return leave("stays in quarantine for faults that the node itself reported: " + report.why(), held);
        }
        Optional<String> undone = session.undoneOn(node);
        if (undone.isPresent()) {
            return cancel(session, held, undone.get());
        }
        if (!held.faults().isEmpty()) {
            return hold(session, held);
        }
        return session.active()
                ? giveBack(session, held)
                : leave("no fault that a rule matches" + (report.monitorsAlone() ? "; " + report.why() : ""), held);
    }

    private Decision leave(String reason, QuarantineReasons held) {
        return new Decision.Leave(reason, false, held.evaluated(report));
    }

    private Decision hold(QuarantineState session, QuarantineReasons held) {
        DesiredTaintsAndLabels effects = DesiredTaintsAndLabels.of(session, held.met(), node);
        if (!session.active()
                && !effects.cordon()
                && effects.taints().isEmpty()
                && effects.labels().isEmpty()) {
            return leave(
                    "rules match, but every taint that they request conflicts with a taint of another writer", held);
        }
        boolean charges = effects.takeCapacity() && !session.takesCapacity() && !(held.forced() && forcePasses);
        Optional<BreakerPolicy.Answer> passed = charges ? Optional.of(breaker.apply(node)) : Optional.empty();
        if (passed.isPresent() && !passed.get().allowed()) {
            return new Decision.Leave(passed.get().reason(), true, held.evaluated(report));
        }
        String reason = Explanation.of(held, effects, report.names());
        NodePatch patch = new NodePatch(node);
        boolean cordons = effects.cordon() && !session.cordoned();
        boolean preExisting = session.cordoned() ? session.cordonPreExisting() : cordons && node.unschedulable();
        patch.unschedulable(effects.cordon() || node.unschedulable());
        patch.annotate(NodeAnnotations.EVENTS, Optional.of(HealthEventJson.write(held.events())));
        patch.annotate(NodeAnnotations.REASON, Optional.of(reason));
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
            // Otherwise the node may be in a later state already: its drain or its repair is under way.
            patch.label(NodeAnnotations.STATE, Optional.of(NodeAnnotations.QUARANTINED));
        }
        if (!session.active()) {
            patch.annotate(NodeAnnotations.UNCORDONED_MANUALLY, Optional.empty());
            patch.annotate(NodeAnnotations.UNTAINTED_MANUALLY, Optional.empty());
            patch.annotate(NodeAnnotations.DRAIN, Optional.empty());
            patch.annotate(NodeAnnotations.REPAIR, Optional.empty());
            patch.annotate(NodeAnnotations.REPAIR_APPROVED, Optional.empty());
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
        return act(kind, reason, patch, passed.map(BreakerPolicy.Answer::reason), held, held.faults());
    }

    private Decision giveBack(QuarantineState session, QuarantineReasons held) {
        if (report.unlisted() > 0) {
            return leave(STAYS + report.unlisted() + " faults of it are not listed", held);
        }
        Optional<String> paused = node.labels().entrySet().stream()
                .filter(label -> label.getValue().equals(MaintenanceKind.PAUSED))
                .map(label -> label.getKey() + "=" + label.getValue())
                .min(String::compareTo);
        if (paused.isPresent()) {
            return leave(STAYS + "its services are stopped for a reset (label " + paused.get() + ")", held);
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
        // Faults younger than the youngest listed one are new, and may quarantine the node again.
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
                "an operator " + what + " the node: these faults do not bring it back, others do",
                patch,
                Optional.empty(),
                held,
                known);
    }

    /** Removes all marks of the quarantine except the cordon. */
    static void undo(CachedNode node, QuarantineState session, NodePatch patch) {
        NodeAnnotations.OF_SESSION.forEach(name -> patch.annotate(name, Optional.empty()));
        patch.label(NodeAnnotations.STATE, Optional.empty());
        CordonLabels.gone(patch);
        session.taints().stream()
                .filter(applied -> !applied.preExisting())
                .forEach(applied -> patch.removeTaint(applied.taint()));
        for (AppliedLabel applied : session.labels()) {
            // A value that another writer has set since then stays.
            if (applied.label().value().equals(node.labels().get(applied.label().key()))) {
                patch.label(applied.label().key(), applied.previous());
            }
        }
    }

    /** Returns the digests of the formerly cancelled faults that are still current, and of the given faults. */
    private Optional<String> stillCancelled(QuarantineState session, Collection<Fault> more) {
        Set<String> digests = new TreeSet<>();
        if (!report.isWhole()) {
            digests.addAll(session.cancelled());
        } else {
            report.faults().stream()
                    .filter(session::cancelled)
                    .map(Cancelled::digest)
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
            return leave("in quarantine already: " + reason, held);
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
        return new Decision.Act(kind, reason, operations, audit, held.evaluated(report));
    }

    /** A decision about one node. */
    public sealed interface Decision {

        /** Returns the reason, as text for the operator. */
        String reason();

        /** Returns the rule sets that cannot be evaluated for the node's faults; empty if that is unknown. */
        Optional<List<Unanswered>> unanswered();

        enum Kind {
            QUARANTINE,
            /** The node is in quarantine, and more, fewer or other faults hold it there. */
            CHANGE,
            RETURN,
            /**
             * An operator has undone a part of the quarantine. The rest is removed too, and those faults do not bring the node
             * back.
             */
            CANCEL
        }

        /** @param patch one JSON patch of the Node, which fails if the Node has changed since it was read */
        record Act(
                Kind kind,
                String reason,
                List<Map<String, Object>> patch,
                AuditRecord audit,
                Optional<List<Unanswered>> unanswered)
                implements Decision {

            /** Returns false in a dry run. */
            public boolean writes() {
                return audit.mode() == ActionMode.ARMED;
            }
        }

        /** @param refused true if the breaker refused */
        record Leave(String reason, boolean refused, Optional<List<Unanswered>> unanswered) implements Decision {}
    }
}
