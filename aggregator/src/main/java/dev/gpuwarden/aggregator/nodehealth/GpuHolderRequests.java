package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson.HoldingsReader;
import dev.gpuwarden.aggregator.nodehealth.NodeRequestKind.Answer;
import dev.gpuwarden.aggregator.nodehealth.NodeRequestKind.OpenRequest;
import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.api.v1.Lookup;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Requests to nodes for the holders of their GPUs, and the answers, kept in their `NodeHealth`s. The requester need not be the
 * replica to which the node reports. Each call sends a request to the API server and blocks until the answer arrives.
 * Thread-safe.
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
     * Requests the holders of a node's GPUs. Earlier requests get no answer any more. One request to the API server.
     *
     * @return the request, for {@link HoldingsReader#read}
     * @throws ApiException also if the node has no `NodeHealth`, so that no daemon reports for it
     */
    public LookupRequest ask(String node) throws ApiException, InterruptedException {
        LookupRequest request =
                new LookupRequest(UUID.randomUUID().toString(), clock.instant().truncatedTo(ChronoUnit.MILLIS));
        // A merge, unlike an apply, creates no missing resource, and leaves the other fields of the specification.
        Map<String, Object> now =
                api.merge(NodeHealthClient.ALL.path(node), Map.of("spec", Map.of("lookup", request.tree())));
        memory.answered(now);
        return request;
    }

    /**
     * Writes an answer, unless the request is no longer open. One request to the API server, unless another writer has changed
     * the resource.
     *
     * @param holdings a result of {@link GpuHoldersJson}
     * @return true if the answer is stored
     */
    public boolean answer(String node, String id, Map<String, Object> holdings)
            throws ApiException, InterruptedException {
        return status.write(
                node,
                there -> LookupRequest.open(there)
                        .filter(request -> request.id().equals(id))
                        .map(request -> Map.of("holdings", holdings)));
    }

    /** Returns the way of these requests over the streams of nodes. */
    public NodeRequestKind kind() {
        String unsupported = "gpuwarden on the node is of a version that does not report who holds its GPUs";
        return new NodeRequestKind(
                "the answer about the holders of the GPUs of ",
                "asked",
                UplinkCodec.MOST_LOOKUPS,
                Hello::getAnswersLookups,
                health -> LookupRequest.open(health).map(LookupRequest::message).stream()
                        .toList(),
                ReportCase.HOLDINGS,
                message -> message.getHoldings().getId(),
                message -> read(message.getHoldings()),
                id -> answer(id, "unsupported", Reading.absent(Absence.NOT_SUPPORTED, 0, unsupported)),
                this::answer);
    }

    private Answer read(Holdings message) {
        Reading<GpuHolders> holders = HoldingsCodec.parse(message);
        return answer(message.getId(), holders instanceof Reading.Present<?> ? "answered" : "failed", holders);
    }

    private Answer answer(String id, String outcome, Reading<GpuHolders> holders) {
        return new Answer(id, outcome, GpuHoldersJson.of(id, holders, clock.instant()));
    }

    /** The state of a request for the holders of a node's GPUs. */
    public sealed interface LookupAnswer {

        /**
         * The kubelet's answer to a query after the request. If {@link GpuHolders#complete} is true, a GPU without a holder is
         * surely free. Pods have names only: those of kubelets before Kubernetes 1.34 may have ended.
         */
        record Answered(GpuHolders holders) implements LookupAnswer {}

        /** A request that the node has not answered yet. */
        record Pending(Instant since) implements LookupAnswer {}

        /** A request that will get no answer. */
        record Failed(String why) implements LookupAnswer {}
    }

    /**
     * A request for the holders of a node's GPUs: `spec.lookup` of its `NodeHealth`.
     *
     * @param id unique for each request
     * @param requested time by the requester's clock
     */
    public record LookupRequest(String id, Instant requested) {

        /** Returns the last request, answered or not; empty if there is none, or none that can be read. */
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

        /** Returns the last request if it has no answer. */
        public static Optional<LookupRequest> open(Map<?, ?> nodeHealth) {
            Map<String, Object> answer = JsonTrees.object(JsonTrees.object(nodeHealth, "status"), "holdings");
            return of(nodeHealth).filter(request -> !request.id().equals(JsonTrees.text(answer, "id")));
        }

        Map<String, Object> tree() {
            return Map.of("id", id, "requested", requested.toString());
        }

        OpenRequest message() {
            return new OpenRequest(
                    id,
                    Acknowledgement.newBuilder()
                            .setLookup(Lookup.newBuilder().setId(id))
                            .build());
        }
    }
}
