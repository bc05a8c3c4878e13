package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.provider.NodeProvider.Answer;
import java.time.Instant;
import java.util.Optional;

/**
 * The one request of a reboot or a termination, by its condition: a Job makes it (the Job, then its reference, then its start), or a
 * provider gets it. The intention is stored before a request to a provider, because it has no precondition: a leader that finds an
 * intention without an answer never repeats the request. Pure.
 *
 * @param refusal reason why nothing may be done to the Node now; empty if it may
 */
record NodeSignal(Scene scene, Optional<Step.End> refusal) {

    static final String SENT = "SignalSent";

    /** The reason before a request. */
    static final String SENDING = "SendingSignal";

    /** The reason of a request whose answer has not been stored. */
    static final String REQUESTING = "Requesting";

    /** The reason if another program acts. */
    static final String EXTERNAL = "External";

    /** The reason of a request that the provider has refused. */
    private static final String REFUSED = "ProviderRefused";

    boolean isSent() {
        return scene.progress().isTrue(SENT);
    }

    boolean has(String reason) {
        return condition().filter(each -> each.reason().equals(reason)).isPresent();
    }

    private Optional<Condition> condition() {
        return scene.progress().condition(SENT);
    }

    /** Returns the end of an action that is not requested, by the reason in the status; empty if there is none. */
    Optional<Step.End> refused() {
        return condition()
                .filter(each -> !each.isTrue() && isRefusal(each.reason()))
                .map(each -> Step.End.failed(each.reason(), each.message()));
    }

    private static boolean isRefusal(String reason) {
        return NotTried.is(reason) && !reason.equals(NotTried.JOB_SUSPENDED) || reason.equals(REFUSED);
    }

    /** Returns the step that stores the reference to the Job. */
    Step refer(JobFacts job, String message) {
        return new Step.SetStatus(scene.change()
                .set("jobRef", scene.ref(job).tree())
                .condition(SENT, true, "JobCreated", "Job " + scene.resource().jobName() + " " + message));
    }

    /** Returns the step that starts the Job that the status refers to; empty if none waits for its start. */
    Optional<Step> start() {
        Optional<JobFacts> waiting = scene.job()
                .filter(JobFacts::waits)
                .filter(job -> scene.progress()
                        .job()
                        .filter(ref -> ref.uid().equals(job.uid()))
                        .isPresent());
        return waiting.filter(any -> isSent())
                .map(job ->
                        refusal.map(this::refuse).orElseGet(() -> new Step.StartJob(scene.ref(job), job.version())));
    }

    /**
     * Returns the step for a Job that was started and has not ended: none while its reason holds. Otherwise it is stopped, if its
     * program has not begun. A program elsewhere may have begun, and cutting it off could leave a machine without power.
     */
    Optional<Step> withdraw() {
        if (scene.job().filter(JobFacts::runs).isEmpty()
                || refusal.isEmpty()
                || scene.settings().reboot() == RebootProvider.COMMAND) {
            return Optional.empty();
        }
        if (scene.pods().isEmpty()) {
            return Optional.of(new Step.ReadPods());
        }
        return scene.mayHaveBegun() ? Optional.empty() : refusal.map(this::refuse);
    }

    /** Stores the reason before the Job is stopped, since the facts may change again. */
    private Step refuse(Step.End end) {
        return new Step.SetStatus(scene.change().condition(SENT, false, end.reason(), end.message()));
    }

    /** Returns the step for a Job that another controller has suspended after its start: it is never started again. */
    Optional<Step> interrupt() {
        return scene.job()
                .filter(JobFacts::interrupted)
                .map(job -> has(NotTried.JOB_SUSPENDED)
                        ? new Step.StopJob(scene.ref(job))
                        : new Step.SetStatus(scene.change()
                                .condition(
                                        SENT,
                                        true,
                                        NotTried.JOB_SUSPENDED,
                                        scene.resource().interruption())));
    }

    /** Returns the step that makes the request once, or the end of a resource whose provider was never reached. */
    Step request(Instant end) {
        return scene.now().isBefore(end)
                ? new Step.Request(scene.change()
                        .condition(SENT, false, REQUESTING, "the provider is asked; it has not answered yet"))
                : Step.End.failed(
                        NotTried.PROVIDER_UNREACHABLE,
                        "expected a connection to the provider by " + end + ", seen none: nothing was requested");
    }

    /** Returns the status after the answer of the provider. */
    static Progress.Change answered(Progress.Change change, Answer answer) {
        if (answer instanceof Answer.Accepted accepted) {
            return change.condition(
                    SENT,
                    true,
                    "Requested",
                    "the provider accepted the request"
                            + (accepted.requestId().isEmpty() ? "" : " " + accepted.requestId()));
        }
        if (answer instanceof Answer.Refused refused) {
            return change.condition(SENT, false, REFUSED, "expected the provider to accept, seen " + refused.why());
        }
        return change.condition(
                SENT,
                false,
                REQUESTING,
                "no answer of the provider: " + ((Answer.Unknown) answer).why()
                        + "; the request may have arrived, so it is not repeated");
    }

    /** Returns the wait before the facts are read again. Changes of the Node arrive by themselves, those of a Job do not. */
    Step again(Instant end) {
        return scene.job()
                .filter(JobFacts::runs)
                .map(job -> scene.again(job.begun(), end))
                .orElseGet(() -> new Step.Wait(Step.Wait.LATER));
    }

    /** Returns the end of an action whose limit has passed. The result of a Job that was suspended is lost. */
    Step.End late(String message) {
        return Step.End.failed(has(NotTried.JOB_SUSPENDED) ? NotTried.JOB_SUSPENDED : "Timeout", message);
    }
}
