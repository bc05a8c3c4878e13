package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.node.PartNames;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The reverse of {@link NodeHealthStatus}. Pure. Fields of later versions are left out. */
public final class NodeHealthParser {

    private NodeHealthParser() {}

    /** @param resource as the API server's JSON has it */
    public static NodeHealth read(Map<?, ?> resource) throws UnreadableNodeHealth {
        FieldReader metadata = new FieldReader("NodeHealth: ", resource)
                .object("metadata")
                .orElseGet(() -> new FieldReader("NodeHealth: metadata.", Map.of()));
        String node = metadata.text("name");
        Optional<String> uid = owner(metadata, node);
        Optional<FieldReader> told = new FieldReader(
                        "NodeHealth " + ShownText.cut(node, FaultEntry.LONGEST_NAME) + ": ", resource)
                .object("status");
        if (told.isEmpty()) {
            return new NodeHealth(node, uid, Optional.empty(), 0, 0, 0, List.of(), PartNames.NONE, Optional.empty());
        }
        FieldReader status = told.get();
        Optional<List<Fault>> ofMonitors = MonitorFaults.all(status, node);
        if (!status.has("generation")) {
            return new NodeHealth(node, uid, Optional.empty(), 0, 0, 0, List.of(), PartNames.NONE, ofMonitors);
        }
        long generation = status.number("generation");
        Instant reported = status.time("reported");
        List<FieldReader> rows = status.objects("faults");
        return new NodeHealth(
                node,
                uid,
                Optional.of(reported),
                generation,
                status.number("unlistedCount"),
                status.has("droppedEvents") ? status.number("droppedEvents") : 0,
                FaultReader.read(rows, node),
                FaultReader.names(rows),
                ofMonitors);
    }

    private static Optional<String> owner(FieldReader metadata, String node) throws UnreadableNodeHealth {
        for (FieldReader owner : metadata.objects("ownerReferences")) {
            if (owner.text("kind").equals("Node") && owner.text("name").equals(node)) {
                return Optional.of(owner.text("uid"));
            }
        }
        return Optional.empty();
    }
}
