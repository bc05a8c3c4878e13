package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.api.HoldingsCodec;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

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
