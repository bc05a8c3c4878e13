package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.Scene.Lock;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodePod;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The test just before each act of the janitor on a node: a decision can be minutes old, and others act in that time. The stop of
 * services, the start of a Job and the request to a provider pass here, with facts that were just read. The program on the node
 * tests the same once more, since its Job can wait. Pure.
 */
final class ActGate {

    /**
     * @param reason one of {@link NotTried}
     * @param message the subject, what was expected and what was seen
     */
    record Refusal(String reason, String message) {}

    private ActGate() {}

    /**
     * Returns the act if its reason still holds.
     *
     * @param nothing that nothing was done, for a resource that was cancelled
     * @param refused returns the step that ends the action and undoes what was begun
     */
    static Step pass(Scene scene, String nothing, Step act, Function<Refusal, Step> refused) {
        Optional<Refusal> refusal = refusal(scene, nothing);
        if (refusal.isEmpty() && scene.pods().isEmpty()) {
            return new Step.ReadPods();
        }
        return refusal.or(() -> tenants(scene)).map(refused).orElse(act);
    }

    /** Returns the reason why nothing may be done to the node now, as far as it needs no pods; empty if it may. */
    static Optional<Refusal> refusal(Scene scene, String nothing) {
        Optional<Refusal> lost = Steps.lost(scene)
                .map(message -> new Refusal(
                        scene.node().isEmpty() ? NotTried.NODE_NOT_FOUND : NotTried.NODE_REPLACED, message));
        if (lost.isPresent()) {
            return lost;
        }
        if (scene.resource().cancelled()) {
            return Optional.of(new Refusal(NotTried.CANCELLED, Steps.cause(scene.resource()) + ": " + nothing));
        }
        if (scene.lock().state() != Lock.State.OURS) {
            return Optional.of(new Refusal(
                    NotTried.LOCK_LOST,
                    "Node " + scene.resource().node() + ": expected its lock to be held by "
                            + scene.resource().title() + ", seen " + holder(scene.lock()) + ": " + nothing));
        }
        Optional<String> foreign = scene.resource().foreign();
        if (foreign.isPresent()) {
            return Optional.of(new Refusal(
                    NotTried.OTHER_JANITOR,
                    scene.resource().title() + ": expected one janitor, seen another: " + foreign.get() + ": " + nothing
                            + ". Switch one of the two off"));
        }
        Optional<String> upgrade = Steps.upgrade(scene);
        if (upgrade.isPresent()) {
            return Optional.of(new Refusal(NotTried.DRIVER_UPGRADE, upgrade.get() + ": " + nothing));
        }
        return Steps.inService(scene).map(message -> new Refusal(NotTried.NODE_IN_SERVICE, message));
    }

    private static String holder(Lock lock) {
        return lock.state() == Lock.State.FREE ? "none" : lock.holder();
    }

    /** Returns the pods that have come to the GPUs since the node was drained. */
    private static Optional<Refusal> tenants(Scene scene) {
        NodeFacts node = scene.sameNode().orElseThrow();
        List<String> gpus = scene.resource().uuids();
        boolean reset = scene.resource().kind() == MaintenanceKind.GPU_RESET;
        boolean drained = reset ? node.drained(gpus) : node.drained();
        List<String> there = scene.pods().orElseThrow().stream()
                .filter(pod ->
                        drained ? holds(pod.pod(), reset ? gpus : List.of(), node) : Acceptance.isInTheWay(pod, scene))
                .map(pod -> pod.pod().path())
                .sorted()
                .toList();
        return there.isEmpty()
                ? Optional.empty()
                : Optional.of(new Refusal(
                        NotTried.NODE_NOT_DRAINED,
                        "Node " + scene.resource().node() + ": expected no pods"
                                + (reset ? " with these GPUs" : drained ? " with GPUs" : "") + " just before the act,"
                                + " seen " + Acceptance.names(there)));
    }

    /**
     * Returns true if a pod holds one of the GPUs of a drained node. The drain itself has found the pods whose devices are
     * unknown here, so only a later one counts.
     *
     * @param gpus empty for all
     */
    private static boolean holds(PodView pod, List<String> gpus, NodeFacts node) {
        if (!pod.wantsGpu() || pod.ended()) {
            return false;
        }
        boolean named = pod.devices().stream()
                .flatMap(devices -> devices.stream())
                .anyMatch(device -> gpus.stream().anyMatch(device::contains));
        return gpus.isEmpty() || named || isLater(pod, node);
    }

    private static boolean isLater(PodView pod, NodeFacts node) {
        boolean elsewhere = pod.devices()
                .filter(devices -> !devices.isEmpty() && devices.stream().allMatch(device -> device.contains("GPU-")))
                .isPresent();
        Optional<Instant> drained = node.drain().flatMap(drain -> drain.finished());
        Optional<Instant> came = pod.taken().or(pod::created);
        return !elsewhere
                && drained.isPresent()
                && came.filter(drained.get()::isBefore).isPresent();
    }

    /**
     * Returns true if the pod of the resource's Job is on the node and its program may have begun. Then the program itself
     * decides. False before the kubelet has started it: its Job can be stopped, and has done nothing.
     */
    static boolean mayHaveBegun(Scene scene) {
        return scene.pods().orElseThrow().stream()
                .filter(pod -> scene.resource().uid().equals(pod.pod().labels().get(Jobs.OF)))
                .anyMatch(NodePod::begun);
    }
}
