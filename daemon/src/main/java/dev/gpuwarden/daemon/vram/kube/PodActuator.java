package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.Optional;

/** An actuator that ends the pod of a tenant, which it finds in the last list of budgets. */
public abstract class PodActuator implements Actuator {

    private final PodTerms pods;
    private final String list;

    /** @param list the list of budgets in words, for a refusal */
    protected PodActuator(PodTerms pods, String list) {
        this.pods = pods;
        this.list = list;
    }

    protected abstract Outcome end(BudgetedPod pod, Decision decision, Recheck recheck) throws InterruptedException;

    protected abstract void rehearse(BudgetedPod pod, Decision decision);

    @Override
    public final String name() {
        return "pod-evict";
    }

    @Override
    public final boolean handles(Tenant tenant) {
        return tenant.id().startsWith("pod:");
    }

    @Override
    public final Outcome recycle(Decision decision, Tenant tenant, Recheck recheck) {
        Optional<BudgetedPod> pod = pods.pod(tenant.id());
        if (pod.isEmpty()) {
            return Outcome.refused(list + " does not have " + tenant.name() + " any more");
        }
        try {
            return end(pod.get(), decision, recheck);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Outcome(false, "the daemon stops");
        }
    }

    @Override
    public final void rehearse(Decision decision, Tenant tenant) {
        pods.pod(tenant.id()).ifPresent(pod -> rehearse(pod, decision));
    }
}
