package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Evicts pods by the aggregator, which has the right to do so and asks the PodDisruptionBudget. */
public final class EvictActuator implements Actuator {

    /** Longer than the aggregator may take, so that its own cause is reported. */
    private static final Duration PATIENCE = VramCodec.PATIENCE.plusSeconds(1);

    private final VramRequests aggregator;
    private final PodTerms pods;
    private final Duration mostGrace;

    /** @param mostGrace longest grace period of a pod */
    public EvictActuator(VramRequests aggregator, PodTerms pods, Duration mostGrace) {
        this.aggregator = aggregator;
        this.pods = pods;
        this.mostGrace = mostGrace;
    }

    @Override
    public String name() {
        return "pod-evict";
    }

    @Override
    public boolean handles(Tenant tenant) {
        return tenant.id().startsWith("pod:");
    }

    @Override
    public Outcome recycle(Decision decision, Tenant tenant, Recheck recheck) {
        Optional<BudgetedPod> pod = pods.pod(tenant.id());
        if (pod.isEmpty()) {
            return Outcome.refused("the aggregator's list of budgets does not have " + tenant.name() + " any more");
        }
        try {
            VramRequests.Answer answer = aggregator
                    .evict(pod.get(), decision.reason(), mostGrace, Removal.REMOVAL_EVICT)
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            return answer.begun() ? new Outcome(answer.accepted(), answer.text()) : Outcome.refused(answer.text());
        } catch (ExecutionException | TimeoutException e) {
            return new Outcome(false, "the aggregator has not answered: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Outcome(false, "the daemon stops");
        }
    }

    /** Writes the decision as an Event of the pod. Does not wait for it. */
    @Override
    public void rehearse(Decision decision, Tenant tenant) {
        pods.pod(tenant.id()).ifPresent(pod -> {
            var unused = aggregator.evict(pod, decision.reason(), mostGrace, Removal.REMOVAL_DRY_RUN);
        });
    }
}
