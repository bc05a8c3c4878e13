package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.NodeLock.Lock;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The test just before each act of the janitor on a node: a decision can be minutes old, and others act in that time. The stop of
 * services, the start of a Job and the request to a provider pass here, with facts that were just read. The program on the node
 * tests the same once more, since its Job can wait. Pure.
 */
final class ActGate {

    private ActGate() {}

    /** Returns the reason, of {@link NotTried}, why nothing may be done to the node now, as far as it needs no pods; empty if it may. */
    static Optional<Step.End> refusal(Scene scene) {
        Maintenance resource = scene.resource();
        String node = "Node " + resource.node();
        String nothing = switch (resource.kind()) {
            case GPU_RESET -> ": no GPU was reset";
            case REBOOT_NODE -> ": no reboot was requested";
            case TERMINATE_NODE -> ": no termination was requested";
        };
        if (scene.lost().isPresent()) {
            return scene.lost();
        }
        if (resource.cancelled()) {
            return refused(NotTried.CANCELLED, resource.cancellation() + nothing);
        }
        if (scene.lock().state() != Lock.State.OURS) {
            return refused(
                    NotTried.LOCK_LOST,
                    node + ": expected its lock to be held by " + resource.title() + ", seen " + holder(scene.lock())
                            + nothing);
        }
        Optional<String> foreign = resource.foreign();
        if (foreign.isPresent()) {
            return refused(
                    NotTried.OTHER_JANITOR,
                    resource.title() + ": expected one janitor, seen another: " + foreign.get() + nothing
                            + ". Switch one of the two off");
        }
        Optional<String> upgrade = scene.upgrade();
        if (upgrade.isPresent()) {
            return refused(NotTried.DRIVER_UPGRADE, upgrade.get() + nothing);
        }
        return scene.sameNode().filter(NodeFacts::unschedulable).isPresent()
                ? Optional.empty()
                : refused(NotTried.NODE_IN_SERVICE, node + ": expected a cordoned Node, seen one without a cordon");
    }

    private static Optional<Step.End> refused(String reason, String message) {
        return Optional.of(Step.End.failed(reason, message));
    }

    private static String holder(Lock lock) {
        return lock.state() == Lock.State.FREE ? "none" : lock.holder();
    }

    /**
     * Returns the reason why an act that nothing else forbids is withheld: pods have come to the GPUs since the node was drained. Empty
     * if there are none.
     */
    static Optional<Step.End> tenants(Scene scene) {
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
                : refused(
                        NotTried.NODE_NOT_DRAINED,
                        "Node " + scene.resource().node() + ": expected no pods"
                                + (reset ? " with these GPUs" : drained ? " with GPUs" : "") + " just before the act,"
                                + " seen " + Acceptance.names(there));
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
}
