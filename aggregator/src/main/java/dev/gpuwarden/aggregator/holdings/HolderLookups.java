package dev.gpuwarden.aggregator.holdings;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.health.Memory;
import dev.gpuwarden.aggregator.health.NodeHealths;
import dev.gpuwarden.aggregator.json.Trees;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Questions to nodes and their answers, kept in their `NodeHealth`s: whoever asks need not be the replica to which the node
 * reports. Each call asks the API server and blocks until it has answered. Thread-safe.
 */
public final class HolderLookups {

    /** Of its own, so that the node's state and the monitors' places are left as they are. */
    private static final String MANAGER = "gpuwarden-holdings";

    private static final int MOST_TRIES = 3;

    private final ClusterApi api;
    private final Memory memory;
    private final Clock clock;

    public HolderLookups(ClusterApi api, Memory memory, Clock clock) {
        this.api = api;
        this.memory = memory;
        this.clock = clock;
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
        Optional<Map<String, Object>> known = memory.health(node);
        for (int tries = 1; ; tries++) {
            Map<String, Object> there;
            try {
                there = known.isPresent() ? known.get() : api.get(NodeHealths.ALL.path(node));
                if (LookupRequest.open(there)
                        .filter(request -> request.id().equals(id))
                        .isEmpty()) {
                    return false;
                }
                memory.answered(
                        api.apply(NodeHealths.ALL.path(node) + "/status", MANAGER, body(node, there, holdings)));
                return true;
            } catch (ClusterException e) {
                if (e.notFound()) {
                    return false;
                }
                if (tries == MOST_TRIES || !e.conflict()) {
                    throw e;
                }
            }
            known = Optional.empty();
        }
    }

    /** For that version alone: an answer that was stuck on its way does not replace a newer one. */
    private static Map<String, Object> body(String node, Map<String, Object> there, Map<String, Object> holdings) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("apiVersion", NodeHealths.ALL.apiVersion());
        body.put("kind", NodeHealths.ALL.kind());
        body.put("metadata", Map.of("name", node, "resourceVersion", version(there)));
        body.put("status", Map.of("holdings", holdings));
        return body;
    }

    private static String version(Map<String, Object> there) {
        return Trees.text(Trees.object(there, "metadata"), "resourceVersion");
    }
}
