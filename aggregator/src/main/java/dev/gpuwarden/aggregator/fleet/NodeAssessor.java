package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.Cause;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.FleetState;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.NodeFacts;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.aggregator.remediation.RepairSummary;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.node.PartNames;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The assessment of a node: compares the decision that quarantine would make now with the present state. Pure. */
public final class NodeAssessor {

    private final NodeFacts there;
    private final CachedNode node;
    private final ClusterContext around;
    private final Instant now;
    private final FaultReport report;
    private final boolean exists;
    private final Optional<NodeHealth> nodeHealth;
    private final Optional<String> unfit;
    private final List<Fault> faults;

    private NodeAssessor(NodeFacts there, Optional<Map<String, Object>> health, ClusterContext around, Instant now) {
        this.there = there;
        this.node = there.node();
        this.around = around;
        this.now = now;
        this.report = FaultReport.of(node.name(), health, now);
        this.exists = health.isPresent();
        this.nodeHealth = health.flatMap(NodeAssessor::read);
        this.unfit = report.unfitFor(node);
        // A report about a former Node of the same name does not apply to this one.
        boolean ofThis = nodeHealth
                .flatMap(NodeHealth::nodeUid)
                .filter(node.uid()::equals)
                .isPresent();
        this.faults = !ofThis
                ? List.of()
                : nodeHealth.map(NodeHealth::faults).orElse(List.of()).stream()
                        .filter(fault -> fault.cause().strategy().actedOn())
                        .sorted(NodeAssessment.WORST_FIRST)
                        .toList();
    }

    /** @param health the NodeHealth from the API server; empty if it does not exist */
    public static NodeAssessment of(
            NodeFacts there, Optional<Map<String, Object>> health, ClusterContext around, Instant now) {
        return new NodeAssessor(there, health, around, now).assessment();
    }

    private static Optional<NodeHealth> read(Map<String, Object> health) {
        try {
            return Optional.of(NodeHealth.read(health));
        } catch (UnreadableNodeHealth e) {
            return Optional.empty();
        }
    }

    private NodeAssessment assessment() {
        RuleEvaluator rules = around.rules().value().orElse(RuleEvaluator.EMPTY);
        Decision decision =
                QuarantineDecider.decide(node, report, rules, asks -> around.ask(asks, now), ActionMode.DRY_RUN, now);
        QuarantineSummary inspection;
        try {
            inspection = QuarantineSummary.of(node, report.faults(), rules);
        } catch (IOException e) {
            return unreadable(String.valueOf(e.getMessage()));
        }
        Optional<QuarantineSummary> seen = Optional.of(inspection);
        if (inspection.active()) {
            return assessment(
                    FleetState.QUARANTINED, inspection.since(), inspection.reason(), next(decision, inspection), seen);
        }
        if (!there.gpus() && !reports()) {
            return assessment(FleetState.OTHER, Optional.empty(), "", "", seen);
        }
        if (node.unschedulable()) {
            return assessment(
                    FleetState.CORDONED,
                    there.cordoner().flatMap(NodeFacts.Cordoner::at),
                    cordonedBy() + faultsToo(),
                    "returns when an operator uncordons it",
                    seen);
        }
        boolean wanted =
                decision instanceof Decision.Act || decision instanceof Decision.Leave leave && leave.refused();
        if (wanted || fatal()) {
            return faulty(decision, inspection);
        }
        if (unfit.isPresent() || report.monitorsAlone()) {
            return assessment(
                    FleetState.SILENT,
                    reported(),
                    unfit.orElse(report.why()),
                    "check its daemon and the network from there",
                    seen);
        }
        if (!faults.isEmpty()) {
            return assessment(FleetState.DEGRADED, since(), named(faults), "", seen);
        }
        return assessment(FleetState.HEALTHY, Optional.empty(), "", "", seen);
    }

    private NodeAssessment assessment(
            FleetState state,
            Optional<Instant> since,
            String why,
            String next,
            Optional<QuarantineSummary> inspection) {
        return assessment(state, Optional.empty(), since, why, next, inspection);
    }

    private NodeAssessment assessment(
            FleetState state,
            Optional<Cause> cause,
            Optional<Instant> since,
            String why,
            String next,
            Optional<QuarantineSummary> inspection) {
        boolean out = state == FleetState.QUARANTINED;
        Optional<DrainAnnotation> drain = out ? drain() : Optional.empty();
        Optional<RepairSummary> repair = out ? repair(inspection, drain) : Optional.empty();
        return new NodeAssessment(
                node.name(),
                state,
                node.unschedulable(),
                since,
                cause,
                why,
                next,
                faults,
                names(),
                reported(),
                inspection,
                drain,
                repair);
    }

    private Optional<RepairSummary> repair(Optional<QuarantineSummary> inspection, Optional<DrainAnnotation> drain) {
        List<Fault> holding = inspection.map(QuarantineSummary::holding).orElse(List.of());
        return RepairSummary.of(
                        node, report.faults(), holding.stream().map(Fault::key).toList(), report.gpus())
                .map(repair -> operator().repair(repair, holding, drain));
    }

    private OperatorSteps operator() {
        return new OperatorSteps(node.name(), names(), around.breaker().steps().value());
    }

    /** Returns the drain on the Node; empty if it cannot be read. The aggregator leaves such a node alone and logs it. */
    private Optional<DrainAnnotation> drain() {
        try {
            return DrainAnnotation.find(node);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * Returns true if the node has a report. A monitor's entry without faults does not count; an unreadable NodeHealth does.
     */
    private boolean reports() {
        return exists
                && nodeHealth
                        .map(health -> health.reported().isPresent()
                                || !health.faults().isEmpty())
                        .orElse(true);
    }

    private Optional<Instant> reported() {
        return nodeHealth.flatMap(NodeHealth::reported);
    }

    private boolean fatal() {
        return faults.stream().anyMatch(fault -> fault.cause().fatal());
    }

    private Optional<Instant> since() {
        return faults.stream().map(Fault::since).findFirst();
    }

    private String named(List<Fault> named) {
        return Explanation.named(named, names());
    }

    private PartNames names() {
        return nodeHealth.map(NodeHealth::names).orElse(PartNames.NONE);
    }

    // ---- out of service ----

    private NodeAssessment unreadable(String why) {
        FleetState state = QuarantineSummary.marked(node)
                ? FleetState.QUARANTINED
                : fatal() ? FleetState.FAULTY : FleetState.SILENT;
        Optional<Cause> cause = state == FleetState.FAULTY ? Optional.of(Cause.MARKS) : Optional.empty();
        return assessment(state, cause, Optional.empty(), why, "repair or remove them", Optional.empty());
    }

    private String next(Decision decision, QuarantineSummary inspection) {
        if (decision instanceof Decision.Act act) {
            switch (act.kind()) {
                case RETURN:
                    boolean maintained =
                            NodeAnnotations.REMEDIATING.equals(node.labels().get(NodeAnnotations.STATE));
                    return acts(
                            "returns " + (maintained ? "when its maintenance has ended: " : "now: ") + act.reason());
                case CANCEL:
                    return acts("leaves quarantine now: " + act.reason());
                case QUARANTINE, CHANGE:
                    break;
            }
        } else if (unfit.isPresent()
                || inspection.optOut().isPresent()
                || inspection.holding().isEmpty()) {
            return "stays as it is: " + decision.reason();
        }
        String stays =
                inspection.cordonPreExisting() ? "leaves quarantine, still cordoned as it was before, " : "returns ";
        return repair(Optional.of(inspection), drain())
                .filter(RepairSummary::isOperators)
                .map(RepairSummary::next)
                .orElseGet(
                        () -> operator().returns(stays + "when this is over: " + named(inspection.holding()), drain()));
    }

    /** Returns the text, with a note if no aggregator acts or if the aggregator makes a dry run. */
    private String acts(String what) {
        if (unled()) {
            return what + "; but no aggregator acts";
        }
        return around.breaker().dryRun() ? what + "; but the aggregator makes a dry run" : what;
    }

    private boolean unled() {
        return around.leader().value().filter(lease -> !lease.leads(now)).isPresent();
    }

    private String cordonedBy() {
        return ManualCordon.reason(node)
                .map(reason -> "cordoned by " + reason)
                .or(() -> there.cordoner().map(by -> "cordoned with " + by.program()))
                .orElse("cordoned by an unknown program");
    }

    private String faultsToo() {
        return faults.isEmpty() ? "" : "; faults: " + named(faults);
    }

    // ---- in service despite faults ----

    private NodeAssessment faulty(Decision decision, QuarantineSummary inspection) {
        Cause cause = cause(decision, inspection);
        String why = switch (cause) {
            case DRY_RUN -> "dry run: " + wanted(inspection) + ", and the aggregator only reports it";
            case BREAKER, OPTED_OUT, REPORT -> decision.reason();
            case NO_RULE ->
                QuarantineSummary.noRule(
                        node, report.faults(), around.rules().value().orElseThrow());
            case OVERRIDDEN -> overridden(inspection);
            case NO_LEADER -> wanted(inspection) + ", but no aggregator acts";
            case PENDING -> wanted(inspection) + ": is being taken out of service";
            case UNKNOWN, MARKS -> unknown(decision, inspection);
        };
        String next = operator().inService(cause, faults, around.open(node));
        return assessment(FleetState.FAULTY, Optional.of(cause), since(), why, next, Optional.of(inspection));
    }

    private Cause cause(Decision decision, QuarantineSummary inspection) {
        if (unfit.isPresent()
                || report.monitorsAlone() && decision instanceof Decision.Leave leave && !leave.refused()) {
            return Cause.REPORT;
        }
        if (inspection.optOut().isPresent()) {
            return Cause.OPTED_OUT;
        }
        if (decision instanceof Decision.Act) {
            return causeOfDelay();
        }
        if (decision instanceof Decision.Leave leave && leave.refused()) {
            return Cause.BREAKER;
        }
        if (!inspection.cancelled().isEmpty() || skipped()) {
            return Cause.OVERRIDDEN;
        }
        return inspection.holding().isEmpty() && around.rules().value().isPresent() ? Cause.NO_RULE : Cause.UNKNOWN;
    }

    private Cause causeOfDelay() {
        if (unled()) {
            return Cause.NO_LEADER;
        }
        if (around.breaker().dryRun()) {
            return Cause.DRY_RUN;
        }
        return around.unknown().isPresent() ? Cause.UNKNOWN : Cause.PENDING;
    }

    private boolean skipped() {
        return faults.stream().anyMatch(fault -> fault.cause().quarantine().skip());
    }

    private static String wanted(QuarantineSummary inspection) {
        return String.join(", ", inspection.rules()) + " asks to take it out of service";
    }

    private String overridden(QuarantineSummary inspection) {
        return inspection.cancelled().isEmpty()
                ? "the reporter of the fault requests that the node stay in service (quarantineOverrides.skip)"
                : "an operator uncordoned or untainted it: " + named(inspection.cancelled())
                        + " does not bring it back, other faults do";
    }

    private String unknown(Decision decision, QuarantineSummary inspection) {
        if (around.rules().value().isEmpty()) {
            return "the rule sets are unknown: " + around.rules().why();
        }
        if (!(decision instanceof Decision.Act)) {
            return decision.reason();
        }
        return wanted(inspection) + "; " + around.unknown().orElseThrow();
    }
}
