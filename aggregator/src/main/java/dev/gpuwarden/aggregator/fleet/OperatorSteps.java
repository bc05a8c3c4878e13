package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.Cause;
import dev.gpuwarden.aggregator.quarantine.FaultSummary;
import dev.gpuwarden.aggregator.remediation.RepairSummary;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.node.PartNames;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The steps of an operator for a node that no program repairs. Pure.
 *
 * @param modes the modes of drains and repairs; empty if they are unknown
 */
record OperatorSteps(String node, PartNames names, Optional<StepModes> modes) {

    /** In service, and no program takes the node out of it for these faults. */
    private static final Set<Cause> LEFT = Set.of(Cause.DRY_RUN, Cause.OVERRIDDEN, Cause.NO_RULE, Cause.OPTED_OUT);

    /** Returns the repair; it waits for an operator if no program carries out what the faults request. */
    RepairSummary repair(RepairSummary repair, List<Fault> holding, Optional<DrainAnnotation> drain) {
        String why = modes.map(StepModes::unrepaired).orElse("");
        if (why.isEmpty() || !repair.requested()) {
            return repair;
        }
        boolean drained = drain.flatMap(DrainAnnotation::finished).isPresent();
        return repair.waitsForOperator("you (" + why + "): " + mend(holding, drained));
    }

    /** Returns the way back of a node that needs no repair, with the pods that no program removes. */
    String returns(String way, Optional<DrainAnnotation> drain) {
        boolean stay = modes.filter(modes -> !modes.drains()).isPresent() && drain.isEmpty();
        return stay
                ? way + "; its pods stay (automatic drain is off: --drain.mode="
                        + StepModes.label(modes.orElseThrow().drain()) + "): gpuwarden drain " + node
                : way;
    }

    /**
     * Returns the next step for a faulty node in service: what mends it, or else the step of its cause.
     *
     * @param open whether the breaker is open until an operator closes it
     */
    String inService(Cause cause, List<Fault> faults, boolean open) {
        String step = step(cause, open);
        List<Fault> fatal =
                faults.stream().filter(fault -> fault.cause().fatal()).toList();
        return LEFT.contains(cause) && !fatal.isEmpty() ? "you: " + mend(fatal, false) + "; or " + step : step;
    }

    private static String step(Cause cause, boolean open) {
        return switch (cause) {
            case DRY_RUN -> "cordon it, or run the aggregator with --quarantine.mode=armed";
            case BREAKER ->
                open
                        ? "inspect the nodes that are out, then gpuwarden breaker close or half-open"
                        : "cordon it, repair the nodes that are out, or change the breaker's limit";
            case OPTED_OUT -> "cordon it, or take the label away";
            case NO_RULE -> "cordon it, or write or enable a QuarantineRuleSet";
            case REPORT -> "check its daemon and the network from there; cordon it";
            case OVERRIDDEN -> "cordon it";
            case NO_LEADER -> "check the aggregator; cordon it";
            case PENDING -> "check again in a minute";
            case UNKNOWN -> "retry with the rights to read the missing objects; cordon it";
            case MARKS -> "repair or remove them";
        };
    }

    /** Returns the instruction for each part with a fatal fault. */
    private String mend(List<Fault> faults, boolean drained) {
        return FaultSummary.of(faults, names, 1).lines().stream()
                .map(FaultSummary.Line::cause)
                .map(cause -> drained ? "on " + node + ": " + names.advice(cause) : names.adviceOn(node, cause))
                .distinct()
                .collect(Collectors.joining("; "));
    }
}
