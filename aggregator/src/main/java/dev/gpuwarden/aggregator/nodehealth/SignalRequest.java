package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.api.HoldingsCodec;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
            return Optional.of(new SignalRequest(podUid, id, signal, Instant.parse(JsonTrees.text(tree, "requested"))));
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
