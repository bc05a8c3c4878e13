package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson.HoldingsReader;
import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.core.holder.GpuHolders;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Questions to nodes and their answers, kept in their `NodeHealth`s: whoever asks need not be the replica to which the node
 * reports. Each call asks the API server and blocks until it has answered. Thread-safe.
 */
public final class GpuHolderRequests {

    private final KubeClient api;
    private final NodeHealthCache memory;
    private final Clock clock;
    private final StatusFieldWriter status;

    public GpuHolderRequests(KubeClient api, NodeHealthCache memory, Clock clock) {
        this.api = api;
        this.memory = memory;
        this.clock = clock;
        this.status = new StatusFieldWriter(api, memory, "gpuwarden-holdings");
    }

    /**
     * Asks who holds a node's GPUs from now on; what was asked before is not answered any more. One request.
     *
     * @return what to look for with {@link HoldingsReader#read}
     * @throws ApiException also where the node has no `NodeHealth`, so that nobody reports for it
     */
    public LookupRequest ask(String node) throws ApiException, InterruptedException {
        LookupRequest request =
                new LookupRequest(UUID.randomUUID().toString(), clock.instant().truncatedTo(ChronoUnit.MILLIS));
        // A merge makes no resource where there is none, as an apply would, and leaves what else is in the
        // specification.
        Map<String, Object> now =
                api.merge(NodeHealthClient.ALL.path(node), Map.of("spec", Map.of("lookup", request.tree())));
        memory.answered(now);
        return request;
    }

    /**
     * Writes an answer, unless the question is not asked any more. One request, unless somebody else has changed the resource.
     *
     * @param holdings as {@link GpuHoldersJson} makes them
     * @return whether it is kept
     */
    public boolean answer(String node, String id, Map<String, Object> holdings)
            throws ApiException, InterruptedException {
        return status.write(
                node,
                there -> LookupRequest.open(there)
                        .filter(request -> request.id().equals(id))
                        .map(request -> Map.of("holdings", holdings)));
    }

    /** What has become of the question who holds a node's GPUs. */
    public sealed interface LookupAnswer {

        /**
         * The kubelet was asked after the question, and told this. {@link GpuHolders#complete} says whether a GPU of nobody is surely
         * nobody's. Pods are by name: those of kubelets before Kubernetes 1.34 may have ended.
         */
        record Answered(GpuHolders holders) implements LookupAnswer {}

        /** Nobody has answered yet. */
        record Pending(Instant since) implements LookupAnswer {}

        /** It will not be known by this question. */
        record Failed(String why) implements LookupAnswer {}
    }

    /**
     * Somebody wants to know who holds a node's GPUs: `spec.lookup` of its `NodeHealth`.
     *
     * @param id another one for each question
     * @param requested in the clock of who asks
     */
    public record LookupRequest(String id, Instant requested) {

        /** What was asked last, answered or not; empty where nothing was, or nothing that can be read. */
        public static Optional<LookupRequest> of(Map<?, ?> nodeHealth) {
            Map<String, Object> lookup = JsonTrees.object(JsonTrees.object(nodeHealth, "spec"), "lookup");
            String id = JsonTrees.text(lookup, "id");
            try {
                Instant requested = Instant.parse(JsonTrees.text(lookup, "requested"));
                return HoldingsCodec.isId(id) ? Optional.of(new LookupRequest(id, requested)) : Optional.empty();
            } catch (DateTimeException e) {
                return Optional.empty();
            }
        }

        /** What waits for its answer. */
        public static Optional<LookupRequest> open(Map<?, ?> nodeHealth) {
            Map<String, Object> answer = JsonTrees.object(JsonTrees.object(nodeHealth, "status"), "holdings");
            return of(nodeHealth).filter(request -> !request.id().equals(JsonTrees.text(answer, "id")));
        }

        Map<String, Object> tree() {
            return Map.of("id", id, "requested", requested.toString());
        }
    }
}
