package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.watchdog.decision.Decision;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Evicts pods by the aggregator, which has the right to do so and asks the PodDisruptionBudget. */
public final class EvictActuator extends PodActuator {

    /** Longer than the aggregator may take, so that its own cause is reported. */
    private static final Duration PATIENCE = VramCodec.PATIENCE.plusSeconds(1);

    private final VramRequests aggregator;
    private final Duration mostGrace;

    /** @param mostGrace longest grace period of a pod */
    public EvictActuator(VramRequests aggregator, PodTerms pods, Duration mostGrace) {
        super(pods, "the aggregator's list of budgets");
        this.aggregator = aggregator;
        this.mostGrace = mostGrace;
    }

    @Override
    protected Outcome end(BudgetedPod pod, Decision decision, Recheck recheck) throws InterruptedException {
        try {
            VramRequests.Answer answer = aggregator
                    .evict(pod, decision.reason(), mostGrace, Removal.REMOVAL_EVICT)
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            return answer.begun() ? new Outcome(answer.accepted(), answer.text()) : Outcome.refused(answer.text());
        } catch (ExecutionException | TimeoutException e) {
            return new Outcome(false, "the aggregator has not answered: " + e);
        }
    }

    /** Writes the decision as an Event of the pod. Does not wait for it. */
    @Override
    protected void rehearse(BudgetedPod pod, Decision decision) {
        var unused = aggregator.evict(pod, decision.reason(), mostGrace, Removal.REMOVAL_DRY_RUN);
    }
}
