package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.node.PartNames;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a resource `NodeHealth` says.
 *
 * @param nodeUid of the Node to which it belongs; absent where it belongs to none, so nobody here has made it
 * @param reported when the node last said anything; absent while it has not told all of its faults once
 * @param generation of the node's last complete telling; 0 while there is none
 * @param unlistedCount faults that are current and have no room in the resource
 * @param droppedEvents that the node lost, ever
 * @param own faults that the node has told, with causes as far as the resource keeps them: an event's message may be cut, it was
 *     generated when its first fault began, and of its entities and codes those are there that are faults still. What one event
 *     raised has one cause
 * @param names what people call the parts that the node's faults name; of a node whose version reports none, none
 * @param ofMonitors those that monitors of the whole cluster have told of it, which can be there before the node has said
 *     anything; absent where no monitor ever has told of it
 */
public record NodeHealth(
        String node,
        Optional<String> nodeUid,
        Optional<Instant> reported,
        long generation,
        long unlistedCount,
        long droppedEvents,
        List<Fault> own,
        PartNames names,
        Optional<List<Fault>> ofMonitors) {

    /** All, the worst first; of what both know, the worse. */
    public List<Fault> faults() {
        if (ofMonitors.isEmpty()) {
            return own;
        }
        Map<FaultKey, Fault> byKey = new LinkedHashMap<>();
        Stream.concat(own.stream(), ofMonitors.get().stream())
                .sorted(NodeHealthStatus.WORST_FIRST)
                .forEach(fault -> byKey.putIfAbsent(fault.key(), fault));
        return List.copyOf(byKey.values());
    }

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
}
