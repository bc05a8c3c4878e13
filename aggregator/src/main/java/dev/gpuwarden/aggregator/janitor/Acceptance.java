package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodePod;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.core.node.ResetUnits;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The check of a resource before its action begins. Pure. */
final class Acceptance {

    private static final int MOST_NAMES = 5;

    /** The result of the check. */
    sealed interface Verdict {

        record Accepted() implements Verdict {}

        /** The pods of the node decide, and have not been read. */
        record NeedsPods() implements Verdict {}

        /** @param message the subject, what was expected and what was seen */
        record Refused(String reason, String message) implements Verdict {}
    }

    private Acceptance() {}

    static Verdict of(Scene scene) {
        Maintenance resource = scene.resource();
        if (scene.node().isEmpty()) {
            return resource.kind() == MaintenanceKind.TERMINATE_NODE
                    ? new Verdict.Accepted()
                    : refused("NodeNotFound", "expected a Node " + resource.node() + ", seen none");
        }
        NodeFacts node = scene.node().get();
        String wanted = resource.annotations().getOrDefault(Maintenance.NODE_UID, node.uid());
        if (!wanted.equals(node.uid())) {
            return refused(
                    "NodeReplaced",
                    "Node " + resource.node() + ": expected UID " + wanted + ", seen " + node.uid()
                            + ": the Node was created again");
        }
        return selection(scene)
                .or(() -> elsewhere(scene))
                .or(() -> part(scene))
                .or(() -> twice(scene))
                .or(() -> node.unschedulable()
                        ? Optional.empty()
                        : Optional.of(refused(
                                "NodeInService",
                                "Node " + resource.node() + ": expected a cordoned and drained Node, seen one without"
                                        + " a cordon")))
                .orElseGet(() -> pods(scene, node));
    }

    /** Returns true if the check needs the GPUs of the node. */
    static boolean needsGpus(Maintenance resource) {
        return resource.kind() == MaintenanceKind.GPU_RESET
                && resource.progress().started().isEmpty();
    }

    private static Verdict refused(String reason, String message) {
        return new Verdict.Refused(reason, message);
    }

    private static Optional<Verdict> selection(Scene scene) {
        Maintenance resource = scene.resource();
        if (resource.kind() != MaintenanceKind.GPU_RESET
                || !resource.uuids().isEmpty() && resource.addresses().isEmpty()) {
            return Optional.empty();
        }
        String seen = resource.addresses().isEmpty() ? "none" : "PCI addresses " + resource.addresses();
        return Optional.of(
                refused("SelectorNotSupported", "spec.selector: expected the UUID of each GPU in uuids, seen " + seen));
    }

    /** Refuses a GPU that the node does not have. The Job would refuse it only after the services were stopped. */
    private static Optional<Verdict> elsewhere(Scene scene) {
        Maintenance resource = scene.resource();
        Set<String> missing = scene.gpus().missing(resource.uuids());
        if (resource.kind() != MaintenanceKind.GPU_RESET || missing.isEmpty()) {
            return Optional.empty();
        }
        List<String> there =
                scene.gpus().gpus().stream().flatMap(gpu -> gpu.uuid().stream()).toList();
        return Optional.of(refused(
                "GPUNotOnNode",
                "spec.selector.uuids: expected GPUs of Node " + resource.node() + ", " + names(there) + ", seen "
                        + names(List.copyOf(missing)) + ": use a UUID of status.gpus of its NodeHealth"));
    }

    /** Refuses a part of the GPUs that can only be reset together. nvidia-smi would refuse it after all preparation. */
    private static Optional<Verdict> part(Scene scene) {
        Maintenance resource = scene.resource();
        ResetUnits units = scene.gpus().units();
        if (resource.kind() == MaintenanceKind.GPU_RESET && units.mayMiss(resource.uuids())) {
            return Optional.of(refused(
                    "ResetUnitUnknown",
                    "spec.selector.uuids: expected GPUs with a reset unit in the NodeHealth of " + resource.node()
                            + ", seen " + String.join(", ", resource.uuids())
                            + ", and a list without room for all (status.unlistedGpuCount): use gpuwarden gpu-reset"
                            + " on the node"));
        }
        Set<String> whole = units.widened(resource.uuids());
        if (resource.kind() != MaintenanceKind.GPU_RESET || resource.uuids().containsAll(whole)) {
            return Optional.empty();
        }
        return Optional.of(refused(
                "PartOfResetUnit",
                "spec.selector.uuids: expected all GPUs that can only be reset together, " + String.join(", ", whole)
                        + ", seen " + String.join(", ", resource.uuids())));
    }

    /** Refuses the action that an older resource carries out already. */
    private static Optional<Verdict> twice(Scene scene) {
        Maintenance resource = scene.resource();
        for (Maintenance other : scene.ahead()) {
            Set<String> both = new HashSet<>(resource.uuids());
            both.retainAll(other.uuids());
            if (other.kind() == resource.kind() && (resource.kind() != MaintenanceKind.GPU_RESET || !both.isEmpty())) {
                return Optional.of(refused(
                        "AlreadyInProgress",
                        "expected one action at a time, seen " + other.title() + " in progress"
                                + (both.isEmpty() ? "" : " for " + String.join(", ", both))));
            }
        }
        return Optional.empty();
    }

    private static Verdict pods(Scene scene, NodeFacts node) {
        Maintenance resource = scene.resource();
        boolean reset = resource.kind() == MaintenanceKind.GPU_RESET;
        if (reset ? node.drained(resource.uuids()) : node.drained()) {
            return new Verdict.Accepted();
        }
        if (scene.pods().isEmpty()) {
            return new Verdict.NeedsPods();
        }
        List<String> left = scene.pods().get().stream()
                .filter(pod -> isInTheWay(pod, scene))
                .map(pod -> pod.pod().path())
                .sorted()
                .toList();
        if (left.isEmpty()) {
            return new Verdict.Accepted();
        }
        return refused(
                "NodeNotDrained",
                "Node " + resource.node() + ": expected no pods" + (reset ? " with these GPUs" : "") + ", seen "
                        + names(left));
    }

    /** Returns true if the action would end or disturb the pod. */
    static boolean isInTheWay(NodePod pod, Scene scene) {
        Maintenance resource = scene.resource();
        return stays(pod, scene) && (resource.kind() != MaintenanceKind.GPU_RESET || mayHold(pod, resource.uuids()));
    }

    /** Returns true if a drain would end the pod, or wait for an operator who moves it because it holds a GPU. */
    private static boolean stays(NodePod pod, Scene scene) {
        return !pod.pod().ended()
                && (pod.pod().wantsGpu()
                        || pod.pod().canLeave()
                                && !scene.settings().system().has(pod.pod().namespace()));
    }

    private static boolean mayHold(NodePod pod, List<String> gpus) {
        return pod.pod().wantsGpu()
                && pod.pod()
                        .devices()
                        .map(devices -> devices.isEmpty() || devices.stream().anyMatch(device -> mayBe(device, gpus)))
                        .orElse(true);
    }

    /**
     * A device of a shared GPU, or of a claim, has the UUID in its name, in the form of {@code Identifiers} like those of the
     * resource. One without a UUID, as of MIG, may be of any GPU.
     */
    private static boolean mayBe(String device, List<String> gpus) {
        return !device.contains("GPU-") || gpus.stream().anyMatch(device::contains);
    }

    static String names(List<String> names) {
        return names.size() <= MOST_NAMES
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, MOST_NAMES)) + " and " + (names.size() - MOST_NAMES) + " more";
    }
}
