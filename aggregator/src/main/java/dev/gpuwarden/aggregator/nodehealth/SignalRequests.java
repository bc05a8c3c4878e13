package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.FaultEntry.ShownText;
import dev.gpuwarden.api.HoldingsCodec;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
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

    /** What has become of a signal for a pod. */
    public sealed interface SignalAnswer {

        /** @param processes how many got it: one of each container that runs */
        record Sent(int processes) implements SignalAnswer {}

        /** The node has not answered yet. */
        record Pending(Instant since) implements SignalAnswer {}

        /** None, or not all, got it. */
        record Failed(String why) implements SignalAnswer {}

        /** @param nodeHealth as the API server's JSON has it, no older than the answer to the request's writing */
        static SignalAnswer read(Map<?, ?> nodeHealth, String podUid, String id) {
            Map<String, Object> answer = JsonTrees.object(SignalRequest.answers(nodeHealth), podUid);
            if (JsonTrees.text(answer, "id").equals(id)) {
                String error = JsonTrees.text(answer, "error");
                return error.isEmpty() ? new Sent(JsonTrees.number(answer, "processes")) : new Failed(error);
            }
            Optional<SignalRequest> asked = SignalRequest.of(nodeHealth, podUid)
                    .filter(request -> request.id().equals(id));
            return asked.isPresent() ? new Pending(asked.get().requested()) : new Failed("nobody asks for it any more");
        }

        /** An entry of `status.signals`. */
        static Map<String, Object> tree(String id, int processes, String error, Instant now) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("id", id);
            tree.put("answered", now.toString());
            tree.put("processes", Math.max(0, processes));
            if (!error.isEmpty()) {
                tree.put("error", ShownText.cut(error, 256));
            }
            return tree;
        }
    }

    /**
     * Somebody wants a pod to get a signal: an entry of `spec.signals` of its node's `NodeHealth`, by the pod's UID.
     *
     * @param id another one for each request
     * @param signal as `SIGUSR1`; the node decides which it knows
     */
    public record SignalRequest(String podUid, String id, String signal, Instant requested) {

        /** A node runs a few hundred pods at most. */
        static final int MOST = 256;

        static final int LONGEST_UID = 64;
        static final int LONGEST_SIGNAL = 16;

        /** What is asked of a pod, answered or not; empty where nothing is, or nothing that can be read. */
        public static Optional<SignalRequest> of(Map<?, ?> nodeHealth, String podUid) {
            Map<String, Object> tree = JsonTrees.object(asked(nodeHealth), podUid);
            String id = JsonTrees.text(tree, "id");
            String signal = JsonTrees.text(tree, "signal");
            if (!HoldingsCodec.isId(id)
                    || podUid.length() > LONGEST_UID
                    || signal.isEmpty()
                    || signal.length() > LONGEST_SIGNAL) {
                return Optional.empty();
            }
            try {
                return Optional.of(
                        new SignalRequest(podUid, id, signal, Instant.parse(JsonTrees.text(tree, "requested"))));
            } catch (DateTimeException e) {
                return Optional.empty();
            }
        }

        /** All that wait for their answers. */
        public static List<SignalRequest> open(Map<?, ?> nodeHealth) {
            Map<String, Object> answers = answers(nodeHealth);
            List<SignalRequest> open = new ArrayList<>();
            for (String uid : asked(nodeHealth).keySet()) {
                of(nodeHealth, uid)
                        .filter(request -> !request.id().equals(JsonTrees.text(JsonTrees.object(answers, uid), "id")))
                        .filter(request -> open.size() < MOST)
                        .ifPresent(open::add);
            }
            return open;
        }

        /** Whether anything is asked for, answered or not. */
        public static boolean any(Map<?, ?> nodeHealth) {
            return !asked(nodeHealth).isEmpty();
        }

        static Map<String, Object> asked(Map<?, ?> nodeHealth) {
            return JsonTrees.object(JsonTrees.object(nodeHealth, "spec"), "signals");
        }

        static Map<String, Object> answers(Map<?, ?> nodeHealth) {
            return JsonTrees.object(JsonTrees.object(nodeHealth, "status"), "signals");
        }

        Map<String, Object> tree() {
            return Map.of("id", id, "signal", signal, "requested", requested.toString());
        }
    }
}
