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
 * The content of a resource `NodeHealth`.
 *
 * @param nodeUid UID of the Node that owns it; empty if none does, so no aggregator has created it
 * @param reported time of the node's last message; empty until it has reported all of its faults once
 * @param generation number of the node's last complete report; 0 if there is none
 * @param unlistedCount number of current faults without room in the resource
 * @param droppedEvents number of events that the node has ever lost
 * @param own faults that the node has reported, with causes as far as the resource keeps them. A message may be cut. The cause's
 *     time is the begin of its first fault. Its entities and codes are those of the faults that remain. All faults of one event
 *     have one cause
 * @param names display names of the parts in the node's faults; empty if the node's version reports none
 * @param ofMonitors faults that monitors of the whole cluster have reported for it, possibly before the node's first report;
 *     empty if no monitor ever reported one
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

    /** Returns all faults, the worst first. If the node and a monitor report the same fault, the worse one counts. */
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
     * The complete state of a node at one moment, as the node reported it.
     *
     * @param bootId ID of its boot; empty if the daemon could not read it
     * @param version version of gpuwarden on it
     * @param reported time of its last message, by this program's clock
     * @param claim epoch of the stream that carried the report
     * @param generation number of the last complete report of its faults; 0 before the first
     * @param sequence number of the last event that is in the faults, or that is refused
     * @param droppedEvents number of events that the node has ever lost
     * @param names names of its GPUs; empty if the node's version reports none
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
