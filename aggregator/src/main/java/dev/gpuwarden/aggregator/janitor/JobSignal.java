package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.ActGate.Refusal;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.janitor.Progress.JobRef;
import dev.gpuwarden.aggregator.janitor.Scene.JobFacts;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import java.time.Instant;
import java.util.Optional;

/** The steps that let a Job request a reboot or a termination once: the Job, then its reference, then its start. Pure. */
final class JobSignal {

    /** The reasons for which an action that was prepared is not requested. */
    private static boolean isRefusal(String reason) {
        return NotTried.is(reason) && !reason.equals(NotTried.JOB_SUSPENDED) || reason.equals(Signals.REFUSED);
    }

    private JobSignal() {}

    /** Returns the reason for which the action is not requested; empty if there is none. */
    static Optional<Condition> refusal(Progress progress) {
        return progress.condition(Signals.SENT).filter(each -> isRefusal(each.reason()) && !each.isTrue());
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
                .filter(JobFacts::waits)
                .filter(job -> scene.progress()
                        .job()
                        .filter(ref -> ref.uid().equals(job.uid()))
                        .isPresent());
    }

    /**
     * Returns the step that starts the Job. The facts may have changed since it was created.
     *
     * @param nothing that nothing was requested
     */
    static Step start(Scene scene, JobFacts job, String nothing) {
        return ActGate.pass(
                scene,
                nothing,
                new Step.StartJob(Jobs.ref(scene, job), job.version()),
                refusal -> refuse(scene, refusal));
    }

    /**
     * Returns the step for a Job that was started and has not ended: none while its reason holds. Otherwise it is stopped, if its
     * program has not begun. A program elsewhere may have begun, and cutting it off could leave a machine without power.
     */
    static Optional<Step> withdraw(Scene scene, String nothing) {
        Optional<Refusal> refusal = scene.job().filter(JobFacts::runs).flatMap(job -> ActGate.refusal(scene, nothing));
        if (refusal.isEmpty() || scene.settings().reboot() == RebootProvider.COMMAND) {
            return Optional.empty();
        }
        if (scene.pods().isEmpty()) {
            return Optional.of(new Step.ReadPods());
        }
        return ActGate.mayHaveBegun(scene) ? Optional.empty() : Optional.of(refuse(scene, refusal.get()));
    }

    /** Returns the wait before the facts are read again. Changes of the Node arrive by themselves, those of a Job do not. */
    static Step again(Scene scene, Instant end) {
        Optional<Instant> begun = scene.job().filter(JobFacts::runs).map(JobFacts::begun);
        return begun.isPresent() ? Step.Wait.again(scene, begun.get(), end) : new Step.Wait(Steps.LATER);
    }

    /** Returns the step for a Job that another controller has suspended after its start: it is never started again. */
    static Optional<Step> interrupt(Scene scene) {
        return scene.job()
                .filter(JobFacts::interrupted)
                .map(job -> scene.progress()
                                .condition(Signals.SENT)
                                .filter(each -> each.reason().equals(NotTried.JOB_SUSPENDED))
                                .isPresent()
                        ? new Step.StopJob(Jobs.ref(scene, job))
                        : new Step.SetStatus(scene.change()
                                .condition(Signals.SENT, true, NotTried.JOB_SUSPENDED, interrupted(scene))));
    }

    /** Returns the text about a Job whose result is lost. */
    static String interrupted(Scene scene) {
        return "Job " + Jobs.name(scene.resource()) + ": expected it to run once, seen it suspended after its start by"
                + " another controller: its pod may have acted, so it is not started again";
    }

    /** Stores the reason before the Job is stopped, since the facts may change again. */
    static Step refuse(Scene scene, Refusal refusal) {
        return new Step.SetStatus(scene.change().condition(Signals.SENT, false, refusal.reason(), refusal.message()));
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
