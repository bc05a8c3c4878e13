package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalAnswer;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalRequest;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.pods.PodView.Checkpoint;
import dev.gpuwarden.cli.Durations;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The step of a drain that sends checkpoint signals before evictions. A pod that requests a signal gets it, and leaves when it
 * has saved its work. The node's `NodeHealth` records each signal and its time. Pure.
 *
 * @param health JSON tree of the node's `NodeHealth`; empty if the cache has none
 * @param unsent reason why the signal cannot be requested from the node, by UID of the pod
 * @param most longest grace period of a pod; zero if no pod gets a signal
 * @param answer usual limit of the time until the node confirms that it has sent a signal
 */
record CheckpointSignals(Map<String, Object> health, Map<String, String> unsent, Duration most, Duration answer) {

    /** Returns the plan with a signal before the eviction or deletion of each pod that requests one. */
    List<PodPlan> of(DrainAnnotation drain, List<PodPlan> plan, Instant now) {
        boolean any = !most.isZero() && !drain.forced();
        return any ? plan.stream().map(pod -> of(drain, pod, now)).toList() : plan;
    }

    private PodPlan of(DrainAnnotation drain, PodPlan plan, Instant now) {
        Optional<Checkpoint> wish = plan.pod().checkpoint();
        boolean goes = plan.step() == Step.EVICT || plan.step() == Step.DELETE;
        if (!goes || wish.isEmpty()) {
            return plan;
        }
        String uid = plan.pod().uid();
        // A request from before this drain belongs to an earlier drain of the node.
        Optional<SignalRequest> request =
                SignalRequest.of(health, uid).filter(each -> !each.requested().isBefore(drain.began()));
        return request.isPresent() ? requested(plan, wish.get(), request.get(), now) : unsent(plan, wish.get(), now);
    }

    private Duration grace(Checkpoint wish) {
        return wish.grace().compareTo(most) > 0 ? most : wish.grace();
    }

    private PodPlan unsent(PodPlan plan, Checkpoint wish, Instant now) {
        String why = unsent.getOrDefault(plan.pod().uid(), "");
        if (!why.isEmpty()) {
            return goes(plan, why);
        }
        Duration grace = grace(wish);
        Instant sendAt = plan.at().map(due -> due.minus(grace)).orElse(now);
        return sendAt.isAfter(now)
                ? new PodPlan(
                        plan.pod(),
                        plan.step(),
                        plan.reason() + ", and gets " + wish.signal() + " at " + sendAt,
                        Optional.of(sendAt),
                        plan.began())
                : new PodPlan(
                        plan.pod(),
                        Step.SIGNAL,
                        "it gets " + wish.signal() + " and " + Durations.text(grace) + " to save its work" + odd(wish),
                        Optional.of(sendAt),
                        plan.began());
    }

    private PodPlan requested(PodPlan plan, Checkpoint wish, SignalRequest request, Instant now) {
        PodView pod = plan.pod();
        Instant at = request.requested();
        SignalAnswer sentAnswer = SignalAnswer.read(health, pod.uid(), request.id());
        if (sentAnswer instanceof SignalAnswer.Failed failed) {
            return goes(plan, request.signal() + " was not sent: " + failed.why());
        }
        String sent = request.signal() + " was sent at " + at;
        if (wish.savedSince(at)) {
            return early(plan, sent + ", and it reports that it has saved its work", now);
        }
        if (pod.exited()
                .filter(exit -> !exit.isBefore(at.truncatedTo(ChronoUnit.SECONDS)))
                .isPresent()) {
            return early(plan, sent + ", and its containers have ended", now);
        }
        boolean pending = sentAnswer instanceof SignalAnswer.Pending;
        if (pending && now.isBefore(at.plus(answer))) {
            // The answer is not late yet, so operators need not see the step.
            return new PodPlan(pod, Step.SIGNAL, request.signal() + " is being sent", Optional.of(at.plus(answer)), at);
        }
        Instant end = later(plan.at().orElse(plan.began()), at.plus(grace(wish)));
        if (!end.isAfter(now)) {
            return goes(plan, sent + ", and its time to save its work is over");
        }
        return new PodPlan(
                pod,
                Step.CHECKPOINT,
                (pending ? request.signal() + " is being sent by its node" : sent)
                        + ", and it goes when it has saved its work (" + Checkpoint.SAVED + "), has ended, or at " + end
                        + odd(wish),
                Optional.of(end),
                at);
    }

    private static String odd(Checkpoint wish) {
        return wish.odd().map(why -> "; " + why).orElse("");
    }

    private static PodPlan goes(PodPlan plan, String why) {
        String reason = plan.reason().isEmpty() ? why : plan.reason() + "; " + why;
        return new PodPlan(plan.pod(), plan.step(), reason, plan.at(), plan.began());
    }

    /** Before its deadline a pod leaves by eviction only, which its budget can refuse. */
    private static PodPlan early(PodPlan plan, String why, Instant now) {
        boolean due = plan.at().filter(at -> at.isAfter(now)).isEmpty();
        return due ? goes(plan, why) : new PodPlan(plan.pod(), Step.EVICT, why, Optional.empty(), plan.began());
    }

    private static Instant later(Instant one, Instant other) {
        return one.isBefore(other) ? other : one;
    }
}
