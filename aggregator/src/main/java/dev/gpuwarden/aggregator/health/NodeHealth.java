package dev.gpuwarden.aggregator.health;

import dev.gpuwarden.core.event.Fault;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What a resource `NodeHealth` says.
 *
 * @param nodeUid of the Node to which it belongs; absent where it belongs to none, so nobody here has made it
 * @param reported when the node last said anything; absent while it has not told all of its faults once
 * @param generation of the node's last complete telling; 0 while there is none
 * @param unlistedCount faults that are current and have no room in the resource
 * @param droppedEvents that the node lost, ever
 * @param faults the node's own and those that monitors of the whole cluster have told of it, which can be there before the node
 *     has said anything; the worst first, with causes as far as the resource keeps them: an event's message may be cut, it was generated when its first
 *     fault began, and of its entities and codes those are there that are faults still. What one event raised has one cause
 */
public record NodeHealth(
        String node,
        Optional<String> nodeUid,
        Optional<Instant> reported,
        long generation,
        long unlistedCount,
        long droppedEvents,
        List<Fault> faults) {}
