package dev.gpuwarden.api.vram;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.kube.PodFacts;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** The judgement if a node may have a pod ended. Pure. */
public final class RemovalCheck {

    private static final int USUAL_GRACE_SECONDS = 30;

    private RemovalCheck() {}

    /**
     * Returns why the pod stays; empty if the node may have it ended.
     *
     * @param node the node that has decided
     * @param uid the pod that it has decided about
     * @param tree the pod that has this name now
     */
    public static Optional<String> refusal(String node, String uid, Map<?, ?> tree, String resource) {
        PodFacts pod = PodFacts.of(tree);
        if (!pod.node().equals(node)) {
            return Optional.of("the pod is not on the node '" + node + "'");
        }
        if (!pod.uid().equals(uid)) {
            return Optional.of("the name belongs to another pod, with the UID " + pod.uid());
        }
        if (pod.mirror()) {
            return Optional.of("the pod belongs to a file of the node: a deletion would not end it");
        }
        if (pod.priority() >= VramCodec.CRITICAL_PRIORITY) {
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

    /** Returns the grace period: the pod's own, or this limit (at least a second) if that is shorter. */
    public static Duration grace(Duration most, Map<?, ?> pod) {
        Map<?, ?> spec = JsonTrees.object(pod, "spec");
        int own = spec.containsKey("terminationGracePeriodSeconds")
                ? JsonTrees.number(spec, "terminationGracePeriodSeconds")
                : USUAL_GRACE_SECONDS;
        return Duration.ofSeconds(Math.min(own, Math.max(1, most.toSeconds())));
    }
}
