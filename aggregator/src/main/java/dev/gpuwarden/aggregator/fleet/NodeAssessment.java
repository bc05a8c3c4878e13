package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.quarantine.FaultSummary;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.node.PartNames;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * How a node is and why.
 *
 * @param unschedulable whether it takes no new pods, whoever wanted that
 * @param since when it is so; empty where nothing tells
 * @param cause only where it is faulty
 * @param why for people
 * @param next what has to happen, or will; empty where nothing has to
 * @param faults that somebody may act on, as they were told last, the worst first
 * @param names what people call the parts that the faults name
 * @param reported when it was last heard of
 * @param inspection empty where its marks cannot be read
 * @param drain of its pods, as far as it is written on the Node; empty where there is none
 */
public record NodeAssessment(
        String name,
        FleetState state,
        boolean unschedulable,
        Optional<Instant> since,
        Optional<Cause> cause,
        String why,
        String next,
        List<Fault> faults,
        PartNames names,
        Optional<Instant> reported,
        Optional<QuarantineSummary> inspection,
        Optional<DrainAnnotation> drain) {

    static final Comparator<Fault> WORST_FIRST = Comparator.<Fault, Boolean>comparing(
                    fault -> !fault.cause().fatal())
            .thenComparing(Fault::since)
            .thenComparing(fault -> fault.key().toString());

    static final Comparator<NodeAssessment> WORST_NODE_FIRST = Comparator.comparing(NodeAssessment::state)
            .thenComparing(look -> look.since().orElse(Instant.MAX))
            .thenComparing(NodeAssessment::name);

    /** Its faults in few lines, one at least if there are any. */
    public FaultSummary summary() {
        return FaultSummary.of(faults, names, 1);
    }

    boolean fatal() {
        return faults.stream().anyMatch(fault -> fault.cause().fatal());
    }

    /** Whether work must not run there. */
    public boolean unfit() {
        return state == FleetState.FAULTY || state == FleetState.QUARANTINED || state == FleetState.CORDONED && fatal();
    }
}
