package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.FaultEntry.ShownText;
import dev.gpuwarden.aggregator.nodehealth.NodeRequestKind.Answer;
import dev.gpuwarden.aggregator.nodehealth.NodeRequestKind.OpenRequest;
import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import dev.gpuwarden.api.v1.Signal;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.core.util.JsonTrees;
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
 * Requests to nodes to send their pods a signal, and the answers, kept in their `NodeHealth`s. Each call sends a request to the
 * API server and blocks until the answer arrives. Thread-safe.
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
     * Requests one signal to a pod. One request to the API server. A node without a `NodeHealth` is an error.
     *
     * @param signal name of the signal in the pod's annotation
     */
    public SignalRequest ask(String node, String podUid, String signal) throws ApiException, InterruptedException {
        SignalRequest request = new SignalRequest(
                podUid, UUID.randomUUID().toString(), signal, clock.instant().truncatedTo(ChronoUnit.MILLIS));
        put(node, Map.of(podUid, request.tree()));
        return request;
    }

    /** Withdraws the request for that pod. The next answer of the node removes the old one. One request to the API server. */
    public void forget(String node, String podUid) throws ApiException, InterruptedException {
        Map<String, Object> nothing = new LinkedHashMap<>();
        nothing.put(podUid, null);
        put(node, nothing);
    }

    /** Withdraws the requests for all pods of a node. One request to the API server; none if there is nothing to withdraw. */
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
     * Writes an answer, unless its request is no longer open. One request to the API server, unless another writer has changed
     * the resource.
     *
     * @param answer a result of {@link SignalAnswer#tree}
     * @return true if the answer is stored
     */
    public boolean answer(String node, String id, Map<String, Object> answer)
            throws ApiException, InterruptedException {
        return status.write(
                node,
                there -> SignalRequest.open(there).stream()
                        .filter(request -> request.id().equals(id))
                        .findFirst()
                        .map(request -> {
                            // Includes the answers to the other requests, because an apply removes fields that it does
                            // not name.
                            Map<String, Object> answers = new LinkedHashMap<>(SignalRequest.answers(there));
                            answers.keySet()
                                    .retainAll(SignalRequest.asked(there).keySet());
                            answers.put(request.podUid(), answer);
                            return Map.of("signals", answers);
                        }));
    }

    /** Returns the way of these requests over the streams of nodes. */
    public NodeRequestKind kind() {
        String unsupported = "gpuwarden on the node is of a version that sends no signals";
        return new NodeRequestKind(
                "the answer about a signal for a pod of ",
                "signal_asked",
                UplinkCodec.MOST_SIGNALS,
                Hello::getAnswersSignals,
                health -> SignalRequest.open(health).stream()
                        .map(SignalRequest::message)
                        .toList(),
                ReportCase.SIGNALLED,
                message -> message.getSignalled().getId(),
                message -> read(message.getSignalled()),
                id -> new Answer(id, "unsupported", SignalAnswer.tree(id, 0, unsupported, clock.instant())),
                this::answer);
    }

    private Answer read(Signalled message) {
        return new Answer(
                message.getId(),
                message.getError().isEmpty() ? "signal_sent" : "signal_failed",
                SignalAnswer.tree(message.getId(), message.getProcesses(), message.getError(), clock.instant()));
    }

    /** The state of a request for a signal. */
    public sealed interface SignalAnswer {

        /** @param processes number of processes that received the signal: one in each running container */
        record Sent(int processes) implements SignalAnswer {}

        /** A request that the node has not answered yet. */
        record Pending(Instant since) implements SignalAnswer {}

        /** A signal that none, or not all, of the processes received. */
        record Failed(String why) implements SignalAnswer {}

        /** @param nodeHealth the API server's JSON, no older than the answer to the request's write */
        static SignalAnswer read(Map<?, ?> nodeHealth, String podUid, String id) {
            Map<String, Object> answer = JsonTrees.object(SignalRequest.answers(nodeHealth), podUid);
            if (JsonTrees.text(answer, "id").equals(id)) {
                String error = JsonTrees.text(answer, "error");
                return error.isEmpty() ? new Sent(JsonTrees.number(answer, "processes")) : new Failed(error);
            }
            Optional<SignalRequest> asked = SignalRequest.of(nodeHealth, podUid)
                    .filter(request -> request.id().equals(id));
            return asked.isPresent() ? new Pending(asked.get().requested()) : new Failed("the request is withdrawn");
        }

        /** Returns an entry of `status.signals`. */
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
     * A request for a signal to a pod: an entry of `spec.signals` of its node's `NodeHealth`, by the pod's UID.
     *
     * @param id unique for each request
     * @param signal for example `SIGUSR1`; the node decides which signals it supports
     */
    public record SignalRequest(String podUid, String id, String signal, Instant requested) {

        /** A node runs a few hundred pods at most. */
        static final int MOST = 256;

        static final int LONGEST_UID = 64;
        static final int LONGEST_SIGNAL = 16;

        /** Returns the request for a pod, answered or not; empty if there is none, or none that can be read. */
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

        /** Returns all requests without an answer. */
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

        /** Returns true if there is any request, answered or not. */
        public static boolean any(Map<?, ?> nodeHealth) {
            return !asked(nodeHealth).isEmpty();
        }

        static Map<String, Object> asked(Map<?, ?> nodeHealth) {
            return JsonTrees.object(JsonTrees.object(nodeHealth, "spec"), "signals");
        }

        static Map<String, Object> answers(Map<?, ?> nodeHealth) {
            return JsonTrees.object(JsonTrees.object(nodeHealth, "status"), "signals");
        }

        OpenRequest message() {
            Signal message = Signal.newBuilder()
                    .setId(id)
                    .setPodUid(podUid)
                    .setSignal(signal)
                    .build();
            return new OpenRequest(
                    id, Acknowledgement.newBuilder().setSignal(message).build());
        }

        Map<String, Object> tree() {
            return Map.of("id", id, "signal", signal, "requested", requested.toString());
        }
    }
}
