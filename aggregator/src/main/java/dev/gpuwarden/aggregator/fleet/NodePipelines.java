package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.FleetState;
import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.aggregator.remediation.NodePipeline;
import dev.gpuwarden.aggregator.remediation.NodePipeline.Resources;
import dev.gpuwarden.aggregator.remediation.NodePipeline.Standing;
import dev.gpuwarden.aggregator.remediation.PipelineBuilder;
import dev.gpuwarden.aggregator.remediation.RepairSummary;
import dev.gpuwarden.core.event.Fault;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The pipeline of an assessed node. Pure. */
public final class NodePipelines {

    /** The check of a fault that stays after a repair until the checks of the daemon have passed. */
    private static final String VERIFICATION = "RepairVerification";

    private NodePipelines() {}

    /** Returns true if the maintenance resources of the node matter: it is out of service, or was repaired before. */
    public static boolean mayHaveOne(CachedNode node, NodeAssessment assessment) {
        return assessment.state() == FleetState.QUARANTINED
                || node.unschedulable()
                || node.annotations().containsKey(NodeAnnotations.REPAIRS);
    }

    /** Returns the pipeline; empty for a node that was never repaired and that nothing holds out of service. */
    public static Optional<NodePipeline> of(CachedNode node, NodeAssessment assessment, Resources resources) {
        if (!mayHaveOne(node, assessment)
                && assessment.state() != FleetState.FAULTY
                && resources.all().isEmpty()) {
            return Optional.empty();
        }
        List<Fault> holding = assessment
                .inspection()
                .map(QuarantineSummary::holding)
                .filter(held -> !held.isEmpty())
                .orElse(assessment.faults());
        boolean quarantined = assessment.state() == FleetState.QUARANTINED;
        return PipelineBuilder.of(
                node,
                new Standing(
                        quarantined,
                        assessment.state() == FleetState.FAULTY,
                        holding.stream().map(Fault::since).min(Instant::compareTo),
                        holding.isEmpty() ? "" : Explanation.named(holding, assessment.names()),
                        assessment.faults().stream()
                                .filter(fault -> fault.key().checkName().equals(VERIFICATION))
                                .map(Fault::since)
                                .min(Instant::compareTo),
                        quarantined ? assessment.since() : Optional.empty(),
                        assessment.why(),
                        assessment.next(),
                        assessment.repair().map(RepairSummary::text).orElse(""),
                        assessment.repair().filter(RepairSummary::isOperators).map(RepairSummary::next),
                        assessment.drain()),
                resources);
    }
}
