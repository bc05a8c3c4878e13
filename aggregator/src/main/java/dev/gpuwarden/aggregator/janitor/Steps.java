package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.Acceptance.Verdict;
import dev.gpuwarden.aggregator.janitor.Progress.JobRef;
import dev.gpuwarden.aggregator.janitor.Scene.JobFacts;
import dev.gpuwarden.aggregator.janitor.Scene.Lock;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.api.kube.DriverUpgrade;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The decision about the next step of a resource: finalizer, lock, action, end, release, removal of the finalizer. The same
 * facts give the same step, and a step that was made gives other facts. Pure.
 */
final class Steps {

    /** The time after which the facts are read again without a cause. */
    static final Duration LATER = Duration.ofMinutes(1);

    private Steps() {}

    static Step next(Scene scene) {
        Maintenance resource = scene.resource();
        Optional<String> foreign = resource.foreign();
        if (!resource.inProgress()) {
            return ending(scene, foreign);
        }
        if (resource.progress().isRecorded()) {
            return action(scene);
        }
        // Conditions without the record are the other janitor's, so nothing of this program is lost.
        boolean lost = resource.progress().started().isPresent()
                && (foreign.isEmpty() || resource.progress().conditions().isEmpty());
        if (lost && resource.hasFinalizer()) {
            return unrecorded(scene, foreign);
        }
        if (foreign.isPresent()) {
            // The Lease stays: its owner is the resource, which the other janitor carries out now.
            return resource.hasFinalizer() ? new Step.RemoveFinalizer() : new Step.Leave(foreign.get());
        }
        if (lost) {
            return new Step.Leave("the status of " + resource.title() + " has a startTime of another program");
        }
        if (resource.cancelled()) {
            return resource.hasFinalizer() ? new Step.SetStatus(cancel(scene)) : new Step.Wait(LATER);
        }
        Verdict verdict = Acceptance.of(scene);
        if (verdict instanceof Verdict.NeedsPods) {
            return new Step.ReadPods();
        }
        if (verdict instanceof Verdict.Refused refused) {
            return new Step.SetStatus(scene.change()
                    .set("observedGeneration", resource.generation())
                    .complete(resource.kind().doneCondition(), false, refused.reason(), refused.message()));
        }
        Optional<String> upgrade = upgrade(scene);
        if (upgrade.isEmpty()) {
            return begin(scene);
        }
        // An upgrade can last for hours, and another program may need the node until its end.
        return scene.lock().state() == Lock.State.OURS
                ? new Step.ReleaseLock(scene.lock().leaseUid())
                : waiting(scene, "waits: " + upgrade.get());
    }

    /** Returns the upgrade of the driver for which an action waits. A node that is given back needs no driver. */
    static Optional<String> upgrade(Scene scene) {
        return scene.resource().kind() == MaintenanceKind.TERMINATE_NODE
                ? Optional.empty()
                : scene.node()
                        .flatMap(node -> DriverUpgrade.underWay(node.labels()))
                        .map(text -> "Node " + scene.resource().node() + ": " + text);
    }

    /** Returns the step that takes the lock, or begins the action once it is taken. */
    private static Step begin(Scene scene) {
        Maintenance resource = scene.resource();
        Lock lock = scene.lock();
        switch (lock.state()) {
            case OURS:
                return owned(scene);
            case ORPHAN:
                return new Step.ReleaseLock(lock.leaseUid());
            case FOREIGN:
                return new Step.Leave("the lock of Node " + resource.node() + " is held by " + lock.holder());
            case OTHER:
                return waiting(scene, lockOf(scene, lock.holder()));
            default:
                break;
        }
        if (!scene.ahead().isEmpty()) {
            return waiting(scene, lockOf(scene, scene.ahead().get(0).title()));
        }
        return resource.hasFinalizer() ? new Step.TakeLock() : new Step.AddFinalizer();
    }

    private static Step owned(Scene scene) {
        Maintenance resource = scene.resource();
        if (!resource.hasFinalizer()) {
            return new Step.AddFinalizer();
        }
        return resource.kind() == MaintenanceKind.GPU_RESET && ResetSteps.needsPods(scene)
                ? new Step.ReadPods()
                : new Step.SetStatus(start(scene));
    }

    private static String lockOf(Scene scene, String holder) {
        return "waits for the lock of Node " + scene.resource().node() + ", which " + holder + " has";
    }

    private static Step waiting(Scene scene, String message) {
        String type = firstCondition(scene.resource().kind());
        boolean stored = scene.progress()
                .condition(type)
                .filter(each -> each.message().equals(message))
                .isPresent();
        return stored
                ? new Step.Wait(LATER)
                : new Step.SetStatus(
                        scene.change().set("phase", "Pending").condition(type, false, "ResetPending", message));
    }

    private static String firstCondition(MaintenanceKind kind) {
        return kind == MaintenanceKind.GPU_RESET ? "Ready" : "SignalSent";
    }

    private static Progress.Change cancel(Scene scene) {
        return cancelled(scene.change(), scene)
                .complete(
                        scene.resource().kind().doneCondition(),
                        false,
                        NotTried.CANCELLED,
                        cause(scene.resource()) + ": nothing was done");
    }

    /** Adds the condition of a resource that was deleted or changed before its end. */
    static Progress.Change cancelled(Progress.Change change, Scene scene) {
        return scene.resource().cancelled()
                ? change.condition("Terminating", true, NotTried.CANCELLED, cause(scene.resource()))
                : change;
    }

    static String cause(Maintenance resource) {
        return resource.title()
                + (resource.deleted()
                        ? " was deleted in the middle"
                        : ": expected the spec of generation "
                                + resource.progress().observedGeneration() + ", seen " + resource.generation());
    }

    private static Progress.Change start(Scene scene) {
        Progress.Change change = scene.change()
                .set("phase", "InProgress")
                .set("startTime", scene.now().toString())
                .set("observedGeneration", scene.resource().generation())
                .set("nodeUID", scene.node().map(Scene.NodeFacts::uid).orElse(""));
        return switch (scene.resource().kind()) {
            case GPU_RESET -> ResetSteps.start(change, scene);
            case REBOOT_NODE -> RebootSteps.start(change, scene);
            case TERMINATE_NODE -> TerminateSteps.start(change, scene);
        };
    }

    /**
     * Returns the next step of an action. A lock that was removed by hand is taken again first. While another has it, nothing more is
     * begun, and what was begun is undone ({@link ActGate}).
     */
    private static Step action(Scene scene) {
        if (scene.lock().state() == Lock.State.FREE) {
            return new Step.TakeLock();
        }
        if (scene.lock().state() == Lock.State.ORPHAN) {
            return new Step.ReleaseLock(scene.lock().leaseUid());
        }
        return switch (scene.resource().kind()) {
            case GPU_RESET -> ResetSteps.next(scene);
            case REBOOT_NODE -> RebootSteps.next(scene);
            case TERMINATE_NODE -> TerminateSteps.next(scene);
        };
    }

    /**
     * Returns the next step of an action without its record: it is ended, and what the Node shows of it is undone. A Job that runs is
     * awaited.
     */
    private static Step unrecorded(Scene scene, Optional<String> foreign) {
        Maintenance resource = scene.resource();
        Optional<JobFacts> job = scene.job().filter(JobFacts::runs);
        if (job.isPresent()) {
            // The Job has a limit of its own, after which it has ended.
            return ResetSteps.again(scene, job.get());
        }
        Optional<Step> undo = undo(scene);
        if (undo.isPresent()) {
            return undo.get();
        }
        return foreign.isPresent()
                ? new Step.RemoveFinalizer()
                : new Step.SetStatus(scene.change()
                        .complete(
                                resource.kind().doneCondition(),
                                false,
                                NotTried.STATUS_NOT_KEPT,
                                notKept(resource, ProgressRecord.TYPE)));
    }

    /** Returns the text about a condition that was written and is missing. */
    static String notKept(Maintenance resource, String condition) {
        return "the status of " + resource.title() + ": expected the condition " + condition
                + ", which this program has written, seen none: the definition "
                + resource.kind().resources().plural() + "." + MaintenanceKind.GROUP
                + " does not keep status.conditions, or another program has removed it. Apply gpuwarden's definitions";
    }

    /** Returns the step that undoes what is left of an action that does not go on; empty if nothing is. */
    private static Optional<Step> undo(Scene scene) {
        Optional<JobRef> open = Jobs.open(scene);
        if (open.isPresent()) {
            return Optional.of(new Step.StopJob(open.get()));
        }
        // Another resource stops services under its own lock, and starts all of them again.
        return scene.lock().state() != Lock.State.OTHER && scene.resource().hasFinalizer()
                ? StoppedServices.start(scene)
                : Optional.empty();
    }

    /** Undoes what is left, and releases the lock, then the resource. Deletes it later. */
    private static Step ending(Scene scene, Optional<String> foreign) {
        Maintenance resource = scene.resource();
        if (foreign.isPresent() && !resource.hasFinalizer()) {
            return new Step.Leave(foreign.get());
        }
        // The end may be the other janitor's, and a program that is cut off leaves a GPU or a machine in an unknown
        // state.
        Optional<JobFacts> runs = foreign.isEmpty()
                ? Optional.empty()
                : scene.job()
                        .filter(JobFacts::runs)
                        .filter(job -> scene.now().isBefore(ResetSteps.end(scene.settings(), job)));
        if (runs.isPresent()) {
            return ResetSteps.again(scene, runs.get());
        }
        Optional<Step> undo = undo(scene);
        if (undo.isPresent()) {
            return undo.get();
        }
        if (scene.lock().state() == Lock.State.OURS) {
            return new Step.ReleaseLock(scene.lock().leaseUid());
        }
        if (resource.hasFinalizer()) {
            return new Step.RemoveFinalizer();
        }
        Instant end = resource.progress()
                .completed()
                .orElseThrow()
                .plus(scene.settings().times().keep());
        Duration left = Duration.between(scene.now(), end);
        if (resource.deleted()) {
            return new Step.Wait(LATER);
        }
        return left.isNegative() || left.isZero() ? new Step.Delete() : new Step.Wait(left);
    }

    /** Returns the reason why the Node may not be touched now; empty if it is cordoned. */
    static Optional<String> inService(Scene scene) {
        return scene.sameNode().filter(Scene.NodeFacts::unschedulable).isPresent()
                ? Optional.empty()
                : Optional.of(
                        "Node " + scene.resource().node() + ": expected a cordoned Node, seen one without a cordon");
    }

    /** Returns the reason why the Node is not the one for which the action began; empty if it is. */
    static Optional<String> lost(Scene scene) {
        if (scene.sameNode().isPresent()) {
            return Optional.empty();
        }
        String node = scene.resource().node();
        return Optional.of(
                scene.node().isEmpty()
                        ? "expected the Node " + node + ", seen none: it was deleted in the middle"
                        : "Node " + node + ": expected UID " + scene.progress().nodeUid() + ", seen "
                                + scene.node().get().uid() + ": it was created again");
    }
}
