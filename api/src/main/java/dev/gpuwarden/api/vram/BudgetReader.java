package dev.gpuwarden.api.vram;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.kube.PodFacts;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.ContainerBudget;
import dev.gpuwarden.api.v1.ContainerRole;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The part of a pod that its node needs to hold it to its VRAM budget. Pure. */
public final class BudgetReader {

    private static final String TEMPLATE_HASH = "pod-template-hash";

    private BudgetReader() {}

    /** Returns the budget of a pod; empty if it has none, or has ended. */
    public static Optional<BudgetedPod> of(Map<?, ?> tree, String resource) {
        PodFacts pod = PodFacts.of(tree);
        Map<?, ?> spec = JsonTrees.object(tree, "spec");
        List<ContainerBudget> containers = new ArrayList<>();
        for (Map<?, ?> container : JsonTrees.objects(spec, "initContainers")) {
            boolean sidecar = JsonTrees.text(container, "restartPolicy").equals("Always");
            add(
                    containers,
                    container,
                    resource,
                    sidecar ? ContainerRole.CONTAINER_ROLE_SIDECAR : ContainerRole.CONTAINER_ROLE_INIT);
        }
        for (Map<?, ?> container : JsonTrees.objects(spec, "containers")) {
            add(containers, container, resource, ContainerRole.CONTAINER_ROLE_ORDINARY);
        }
        if (containers.isEmpty() || pod.ended()) {
            return Optional.empty();
        }
        int listed = Math.min(containers.size(), VramCodec.MOST_CONTAINERS);
        BudgetedPod.Builder budget = BudgetedPod.newBuilder()
                .setUid(pod.uid())
                .setNamespace(pod.namespace())
                .setName(pod.name())
                .setController(controller(pod))
                .addAllContainers(containers.subList(0, listed))
                .setIncomplete(listed < containers.size())
                .setPriority(pod.priority())
                .setLeaving(pod.deleted().isPresent())
                .setMirror(pod.mirror())
                .setDaemonSet(pod.owner().equals("DaemonSet"))
                .setOptedOut("off".equals(pod.labels().get(VramCodec.OPT_OUT_LABEL)));
        Object overhead = JsonTrees.object(spec, "overhead").get(resource);
        if (overhead != null) {
            budget.setOverhead(Text.truncate(overhead.toString(), VramCodec.LONGEST_QUANTITY));
        }
        pod.taken().map(VramCodec::started).ifPresent(budget::setStarted);
        return Optional.of(budget.build());
    }

    /** Adds a container that requests the resource. A request of an extended resource equals its limit. */
    private static void add(List<ContainerBudget> all, Map<?, ?> container, String resource, ContainerRole role) {
        Map<?, ?> resources = JsonTrees.object(container, "resources");
        Object request = JsonTrees.object(resources, "requests").get(resource);
        Object quantity =
                request == null ? JsonTrees.object(resources, "limits").get(resource) : request;
        if (quantity != null) {
            all.add(ContainerBudget.newBuilder()
                    .setName(JsonTrees.text(container, "name"))
                    .setRole(role)
                    .setQuantity(Text.truncate(quantity.toString(), VramCodec.LONGEST_QUANTITY))
                    .build());
        }
    }

    /** Returns kind and name of the controller. The ReplicaSets of a Deployment count as the Deployment. */
    private static String controller(PodFacts pod) {
        if (pod.owner().isEmpty()) {
            return "";
        }
        String name = pod.ownerName();
        String hash = "-" + pod.labels().getOrDefault(TEMPLATE_HASH, "");
        return pod.owner().equals("ReplicaSet") && hash.length() > 1 && name.endsWith(hash)
                ? "Deployment/" + name.substring(0, name.length() - hash.length())
                : pod.owner() + "/" + name;
    }
}
