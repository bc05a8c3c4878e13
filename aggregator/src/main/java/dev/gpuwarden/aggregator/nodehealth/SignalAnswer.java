package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.client.JsonTrees;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

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
