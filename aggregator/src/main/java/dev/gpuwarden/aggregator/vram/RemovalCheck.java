package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.drain.PodView;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.Evict;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** The judgement if a node may have a pod ended. Pure. */
final class RemovalCheck {

    private static final int USUAL_GRACE_SECONDS = 30;

    private RemovalCheck() {}

    /**
     * Returns why the pod stays; empty if the node may have it ended.
     *
     * @param node the node that the stream has proven
     * @param tree the pod that has this name now
     */
    static Optional<String> refusal(String node, Evict wanted, Map<String, Object> tree, String resource) {
        PodView pod = PodView.of(tree);
        Map<String, Object> spec = JsonTrees.object(tree, "spec");
        if (!JsonTrees.text(spec, "nodeName").equals(node)) {
            return Optional.of("the pod is not on the node '" + node + "'");
        }
        if (!pod.uid().equals(wanted.getPodUid())) {
            return Optional.of("the name belongs to another pod, with the UID " + pod.uid());
        }
        if (pod.mirror()) {
            return Optional.of("the pod belongs to a file of the node: a deletion would not end it");
        }
        if (JsonTrees.number(spec, "priority") >= VramCodec.CRITICAL_PRIORITY) {
            return Optional.of("the pod has the priority of a system pod");
        }
        if (pod.owner().equals("DaemonSet")) {
            return Optional.of("the pod belongs to a DaemonSet, which would start it on this node again");
        }
        if ("off".equals(pod.labels().get(VramCodec.OPT_OUT_LABEL))) {
            return Optional.of("the pod has the label " + VramCodec.OPT_OUT_LABEL + "=off");
        }
        return BudgetReader.of(tree, resource).isEmpty()
                ? Optional.of("the pod has no budget of " + resource + ", or has ended")
                : Optional.empty();
    }

    /** Returns the grace period: the pod's own, or the node's limit if that is shorter. */
    static Duration grace(Evict wanted, Map<String, Object> pod) {
        Map<String, Object> spec = JsonTrees.object(pod, "spec");
        int own = spec.containsKey("terminationGracePeriodSeconds")
                ? JsonTrees.number(spec, "terminationGracePeriodSeconds")
                : USUAL_GRACE_SECONDS;
        return Duration.ofSeconds(Math.min(own, wanted.getMostGraceSeconds()));
    }
}
