package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Requests to nodes to send their pods a signal, and the answers, kept in their `NodeHealth`s. Each call asks the API server and
 * blocks until it has answered. Thread-safe.
 */
public final class SignalRequests {

    private final KubeClient api;
    private final NodeHealthCache memory;
    private final Clock clock;
    private final StatusFieldWriter status;

    public SignalRequests(KubeClient api, NodeHealthCache memory, Clock clock) {
        this.api = api;
        this.memory = memory;
        this.clock = clock;
        this.status = new StatusFieldWriter(api, memory, "gpuwarden-signals");
    }

    /**
     * Has a pod sent a signal, once. One request. The node of which nobody reports is an error.
     *
     * @param signal as the pod's annotation names it
     */
    public SignalRequest ask(String node, String podUid, String signal) throws ApiException, InterruptedException {
        SignalRequest request = new SignalRequest(
                podUid, UUID.randomUUID().toString(), signal, clock.instant().truncatedTo(ChronoUnit.MILLIS));
        put(node, Map.of(podUid, request.tree()));
        return request;
    }

    /** Nothing is asked of that pod any more; the answer goes with the next one's. One request. */
    public void forget(String node, String podUid) throws ApiException, InterruptedException {
        Map<String, Object> nothing = new LinkedHashMap<>();
        nothing.put(podUid, null);
        put(node, nothing);
    }

    /** Nothing is asked of any pod of a node any more. No request where nothing is, else one. */
    public void forget(String node) throws ApiException, InterruptedException {
        Map<String, Object> nothing = new LinkedHashMap<>();
        memory.health(node).map(SignalRequest::asked).orElse(Map.of()).keySet().forEach(uid -> nothing.put(uid, null));
        if (!nothing.isEmpty()) {
            put(node, nothing);
        }
    }

    private void put(String node, Map<String, Object> requests) throws ApiException, InterruptedException {
        memory.answered(api.merge(NodeHealthClient.ALL.path(node), Map.of("spec", Map.of("signals", requests))));
    }

    /**
     * Writes an answer, unless that is not asked any more. One request, unless somebody else has changed the resource.
     *
     * @param answer as {@link SignalAnswer#tree} makes it
     * @return whether it is kept
     */
    public boolean answer(String node, SignalRequest request, Map<String, Object> answer)
            throws ApiException, InterruptedException {
        return status.write(node, there -> {
            if (!SignalRequest.open(there).contains(request)) {
                return Optional.empty();
            }
            // With the answers that are asked for still, since an apply takes away what it does not name.
            Map<String, Object> answers = new LinkedHashMap<>(SignalRequest.answers(there));
            answers.keySet().retainAll(SignalRequest.asked(there).keySet());
            answers.put(request.podUid(), answer);
            return Optional.of(Map.of("signals", answers));
        });
    }
}
