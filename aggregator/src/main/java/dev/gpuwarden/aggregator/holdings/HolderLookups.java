package dev.gpuwarden.aggregator.holdings;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.health.Memory;
import dev.gpuwarden.aggregator.health.NodeHealths;
import dev.gpuwarden.aggregator.health.StatusPart;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.UUID;

/**
 * Questions to nodes and their answers, kept in their `NodeHealth`s: whoever asks need not be the replica to which the node
 * reports. Each call asks the API server and blocks until it has answered. Thread-safe.
 */
public final class HolderLookups {

    private final ClusterApi api;
    private final Memory memory;
    private final Clock clock;
    private final StatusPart status;

    public HolderLookups(ClusterApi api, Memory memory, Clock clock) {
        this.api = api;
        this.memory = memory;
        this.clock = clock;
        this.status = new StatusPart(api, memory, "gpuwarden-holdings");
    }

    /**
     * Asks who holds a node's GPUs from now on; what was asked before is not answered any more. One request.
     *
     * @return what to look for with {@link HoldingsReader#read}
     * @throws ClusterException also where the node has no `NodeHealth`, so that nobody reports for it
     */
    public LookupRequest ask(String node) throws ClusterException, InterruptedException {
        LookupRequest request =
                new LookupRequest(UUID.randomUUID().toString(), clock.instant().truncatedTo(ChronoUnit.MILLIS));
        // A merge makes no resource where there is none, as an apply would, and leaves what else is in the
        // specification.
        Map<String, Object> now =
                api.merge(NodeHealths.ALL.path(node), Map.of("spec", Map.of("lookup", request.tree())));
        memory.answered(now);
        return request;
    }

    /**
     * Writes an answer, unless the question is not asked any more. One request, unless somebody else has changed the resource.
     *
     * @param holdings as {@link HoldingsTree} makes them
     * @return whether it is kept
     */
    public boolean answer(String node, String id, Map<String, Object> holdings)
            throws ClusterException, InterruptedException {
        return status.write(
                node,
                there -> LookupRequest.open(there)
                        .filter(request -> request.id().equals(id))
                        .map(request -> Map.of("holdings", holdings)));
    }
}
