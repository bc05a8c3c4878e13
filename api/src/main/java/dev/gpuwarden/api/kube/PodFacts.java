package dev.gpuwarden.api.kube;

import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The properties of a pod that identify it, and by which gpuwarden decides if it may end it. Pure.
 *
 * @param node name of its node; empty before it has one
 * @param owner kind of the controller that would start the pod again, such as `ReplicaSet`; empty if there is none
 * @param mirror true for a mirror pod, which the kubelet starts from a file of its node
 * @param deleted deadline of the requested end, grace period included; empty if no deletion was requested
 * @param ended true if none of its containers runs any more, and none will
 * @param taken time in whole seconds at which the kubelet accepted the pod; empty before
 */
public record PodFacts(
        String namespace,
        String name,
        String uid,
        Map<String, String> labels,
        String node,
        int priority,
        String owner,
        String ownerName,
        String ownerUid,
        boolean mirror,
        Optional<Instant> deleted,
        boolean ended,
        Optional<Instant> taken) {

    private static final String MIRROR = "kubernetes.io/config.mirror";

    /** @param pod the API server's JSON */
    public static PodFacts of(Map<?, ?> pod) {
        Map<?, ?> metadata = JsonTrees.object(pod, "metadata");
        Map<?, ?> spec = JsonTrees.object(pod, "spec");
        Map<?, ?> status = JsonTrees.object(pod, "status");
        Map<?, ?> owner = JsonTrees.objects(metadata, "ownerReferences").stream()
                .filter(each -> Boolean.TRUE.equals(each.get("controller")))
                .<Map<?, ?>>map(each -> each)
                .findFirst()
                .orElse(Map.of());
        Optional<Instant> deleted = JsonTrees.time(metadata, "deletionTimestamp");
        return new PodFacts(
                JsonTrees.text(metadata, "namespace"),
                JsonTrees.text(metadata, "name"),
                JsonTrees.text(metadata, "uid"),
                JsonTrees.texts(metadata, "labels"),
                JsonTrees.text(spec, "nodeName"),
                JsonTrees.number(spec, "priority"),
                JsonTrees.text(owner, "kind"),
                JsonTrees.text(owner, "name"),
                JsonTrees.text(owner, "uid"),
                JsonTrees.texts(metadata, "annotations").containsKey(MIRROR),
                deleted,
                ended(status, deleted.isPresent()),
                JsonTrees.time(status, "startTime"));
    }

    /** Returns `NAMESPACE/NAME`. */
    public String path() {
        return namespace + "/" + name;
    }

    /**
     * Returns true if the pod has ended. A pod that is being deleted has ended with its containers, though finalizers may keep
     * the object.
     */
    private static boolean ended(Map<?, ?> status, boolean deleted) {
        String phase = JsonTrees.text(status, "phase");
        if (phase.equals("Succeeded") || phase.equals("Failed")) {
            return true;
        }
        List<Map<String, Object>> main = JsonTrees.objects(status, "containerStatuses");
        return deleted
                && !main.isEmpty()
                && main.stream().allMatch(container -> in(container, "terminated"))
                && JsonTrees.objects(status, "initContainerStatuses").stream()
                        .noneMatch(container -> in(container, "running"));
    }

    private static boolean in(Map<?, ?> container, String state) {
        return JsonTrees.object(container, "state").containsKey(state);
    }
}
