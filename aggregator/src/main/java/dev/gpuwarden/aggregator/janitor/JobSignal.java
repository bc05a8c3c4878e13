package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.janitor.Progress.JobRef;
import dev.gpuwarden.aggregator.janitor.Scene.JobFacts;
import java.util.Optional;
import java.util.Set;

/** The steps that let a Job request a reboot or a termination once: the Job, then its reference, then its start. Pure. */
final class JobSignal {

    static final String CANCELLED = "Cancelled";
    static final String IN_SERVICE = "NodeInService";

    /** The reasons for which an action that was prepared is not requested. */
    private static final Set<String> REFUSALS = Set.of(CANCELLED, IN_SERVICE, Signals.REFUSED);

    private JobSignal() {}

    /** Returns the reason for which the action is not requested; empty if there is none. */
    static Optional<Condition> refusal(Progress progress) {
        return progress.condition(Signals.SENT).filter(each -> REFUSALS.contains(each.reason()) && !each.isTrue());
    }

    /** Returns the step that stores the reference to the Job. */
    static Step refer(Scene scene, JobFacts job, String message) {
        return new Step.SetStatus(scene.change()
                .set("jobRef", Jobs.ref(scene, job).tree())
                .condition(Signals.SENT, true, "JobCreated", "Job " + Jobs.name(scene.resource()) + " " + message));
    }

    /** Returns the Job that the status refers to and that was not started. */
    static Optional<JobFacts> waiting(Scene scene) {
        return scene.job()
                .filter(JobFacts::suspended)
                .filter(job -> scene.progress()
                        .job()
                        .filter(ref -> ref.uid().equals(job.uid()))
                        .isPresent());
    }

    /**
     * Returns the step that starts the Job. The facts may have changed since it was created.
     *
     * @param nothing that nothing was requested, for a resource that was cancelled
     */
    static Step start(Scene scene, JobFacts job, String nothing) {
        if (scene.resource().cancelled()) {
            return refuse(scene, CANCELLED, Steps.cause(scene.resource()) + ": " + nothing);
        }
        Optional<String> inService = Steps.inService(scene);
        return inService.isPresent()
                ? refuse(scene, IN_SERVICE, inService.get())
                : new Step.StartJob(Jobs.ref(scene, job));
    }

    /** Stores the reason before the Job is stopped, since the facts may change again. */
    private static Step refuse(Scene scene, String reason, String message) {
        return new Step.SetStatus(scene.change().condition(Signals.SENT, false, reason, message));
    }

    /** The end comes after the stop of a Job that waits, because a late write of a replaced leader could still start it. */
    static Step complete(Scene scene, boolean success, String reason, String message) {
        Optional<JobRef> waiting = scene.job().filter(JobFacts::suspended).map(job -> Jobs.ref(scene, job));
        return waiting.isPresent()
                ? new Step.StopJob(waiting.get())
                : new Step.SetStatus(Steps.cancelled(scene.change(), scene)
                        .complete(scene.resource().kind().doneCondition(), success, reason, message));
    }
}
