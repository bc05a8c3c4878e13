package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A pod for which the scheduler finds no node with enough of the resource. Pure.
 *
 * @param mib amount that it requests
 * @param nodeLabels labels that its node must have
 * @param since start of the wait by the clock of the cluster
 */
record WaitingPod(String namespace, String name, String uid, long mib, Map<String, String> nodeLabels, Instant since) {

    /** Returns the pod; empty if it waits for no VRAM. */
    static Optional<WaitingPod> of(Map<String, Object> pod, String resource) {
        Map<String, Object> metadata = JsonTrees.object(pod, "metadata");
        Map<String, Object> spec = JsonTrees.object(pod, "spec");
        long mib = RequestedBudget.mib(pod, resource);
        if (mib == 0
                || !JsonTrees.text(spec, "nodeName").isEmpty()
                || !JsonTrees.text(metadata, "deletionTimestamp").isEmpty()) {
            return Optional.empty();
        }
        return JsonTrees.objects(JsonTrees.object(pod, "status"), "conditions").stream()
                .filter(condition -> JsonTrees.text(condition, "type").equals("PodScheduled")
                        && JsonTrees.text(condition, "status").equals("False")
                        && JsonTrees.text(condition, "message").contains(resource))
                .findFirst()
                .flatMap(condition -> JsonTrees.time(condition, "lastTransitionTime")
                        .or(() -> JsonTrees.time(metadata, "creationTimestamp")))
                .map(since -> new WaitingPod(
                        JsonTrees.text(metadata, "namespace"),
                        JsonTrees.text(metadata, "name"),
                        JsonTrees.text(metadata, "uid"),
                        mib,
                        JsonTrees.texts(spec, "nodeSelector"),
                        since));
    }
}
