package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.Acceptance.Verdict;
import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.janitor.NodeLock.Lock;
import dev.gpuwarden.aggregator.janitor.Progress.JobRef;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The decision about the next step of a resource: finalizer, lock, action, end, release, removal of the finalizer. The same
 * facts give the same step, and a step that was made gives other facts. The steps of an action come from its kind, which refers to
 * nothing here. Pure.
 */
final class Steps {

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
            return resource.hasFinalizer()
                    ? scene.ended(
                            scene.change(),
                            Step.End.failed(NotTried.CANCELLED, resource.cancellation() + ": nothing was done"))
                    : new Step.Wait(Step.Wait.LATER);
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
        Optional<String> upgrade = scene.upgrade();
        if (upgrade.isEmpty()) {
            return begin(scene);
        }
        // An upgrade can last for hours, and another program may need the node until its end.
        return scene.lock().state() == Lock.State.OURS
                ? new Step.ReleaseLock(scene.lock().leaseUid())
                : waiting(scene, "waits: " + upgrade.get());
    }

    /** Returns the step that takes the lock, or begins the action once it is taken. */
    private static Step begin(Scene scene) {
        Maintenance resource = scene.resource();
        Lock lock = scene.lock();
        switch (lock.state()) {
            case OURS:
                return resource.hasFinalizer() ? ofKind(scene, Optional.empty()) : new Step.AddFinalizer();
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

    private static String lockOf(Scene scene, String holder) {
        return "waits for the lock of Node " + scene.resource().node() + ", which " + holder + " has";
    }

    private static Step waiting(Scene scene, String message) {
        String type = scene.resource().kind() == MaintenanceKind.GPU_RESET ? "Ready" : NodeSignal.SENT;
        boolean stored = scene.progress()
                .condition(type)
                .filter(each -> each.message().equals(message))
                .isPresent();
        return stored
                ? new Step.Wait(Step.Wait.LATER)
                : new Step.SetStatus(
                        scene.change().set("phase", "Pending").condition(type, false, "ResetPending", message));
    }

    /**
     * Returns the next step of an action. A lock that was removed by hand is taken again first. While another has it, nothing more is
     * begun, and what was begun is undone. Each act on the node passes the gate here.
     */
    private static Step action(Scene scene) {
        if (scene.lock().state() == Lock.State.FREE) {
            return new Step.TakeLock();
        }
        if (scene.lock().state() == Lock.State.ORPHAN) {
            return new Step.ReleaseLock(scene.lock().leaseUid());
        }
        Optional<Step.End> refusal = ActGate.refusal(scene);
        Step step = ofKind(scene, refusal);
        if (!step.acts()) {
            return step;
        }
        if (scene.pods().isEmpty()) {
            return new Step.ReadPods();
        }
        Optional<Step.End> last = refusal.or(() -> ActGate.tenants(scene));
        Step act = last.isEmpty() ? step : ofKind(scene, last);
        if (last.isPresent() && act.acts()) {
            throw new IllegalStateException("expected no act after " + last.get() + ", found " + act);
        }
        return act;
    }

    /** @param refusal reason why nothing may be done to the Node now; empty if it may */
    private static Step ofKind(Scene scene, Optional<Step.End> refusal) {
        Step step = switch (scene.resource().kind()) {
            case GPU_RESET -> ResetSteps.next(scene, refusal);
            case REBOOT_NODE -> RebootSteps.next(scene, refusal);
            case TERMINATE_NODE -> TerminateSteps.next(scene, refusal);
        };
        return step instanceof Step.End end ? ended(scene, end) : step;
    }

    /** The end comes after the stop of a Job that waits, because a late write of a replaced leader could still start it. */
    private static Step ended(Scene scene, Step.End end) {
        Optional<JobFacts> waiting = scene.job().filter(JobFacts::suspended);
        return waiting.isPresent() ? new Step.StopJob(scene.ref(waiting.get())) : scene.ended(scene.change(), end);
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
            return scene.again(job.get().begun(), scene.limit(job.get()));
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
                                resource.notKept(Progress.RECORD)));
    }

    /** Returns the step that undoes what is left of an action that does not go on; empty if nothing is. */
    private static Optional<Step> undo(Scene scene) {
        Optional<JobRef> open = scene.openJob();
        if (open.isPresent()) {
            return Optional.of(new Step.StopJob(open.get()));
        }
        // Another resource stops services under its own lock, and starts all of them again.
        return scene.lock().state() != Lock.State.OTHER && scene.resource().hasFinalizer()
                ? RestoreSteps.start(scene)
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
                : scene.job().filter(JobFacts::runs).filter(job -> scene.now().isBefore(scene.limit(job)));
        if (runs.isPresent()) {
            return scene.again(runs.get().begun(), scene.limit(runs.get()));
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
            return new Step.Wait(Step.Wait.LATER);
        }
        return left.isNegative() || left.isZero() ? new Step.Delete() : new Step.Wait(left);
    }
}
