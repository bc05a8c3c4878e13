package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.node.PartNames;
import java.time.Instant;
import java.util.List;

/**
 * All that is known of a node at one moment, as it told it.
 *
 * @param bootId of its kernel; empty where it could not tell
 * @param version of gpuwarden on it
 * @param reported when it last said anything, in this program's clock
 * @param claim of the stream on which it was told
 * @param generation of the last complete telling of its faults; 0 before the first
 * @param sequence of the last event that is in the faults, or that is refused
 * @param droppedEvents that were lost on the node, ever
 * @param names of its GPUs; none from a node whose version reports none
 */
public record ReportedState(
        String node,
        String bootId,
        String version,
        Instant reported,
        StreamEpoch claim,
        long generation,
        long sequence,
        long droppedEvents,
        List<Fault> faults,
        PartNames names) {}
