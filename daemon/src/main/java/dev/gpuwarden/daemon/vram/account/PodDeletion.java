package dev.gpuwarden.daemon.vram.account;

import dev.gpuwarden.api.kube.PodFacts;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.vram.RemovalCheck;
import dev.gpuwarden.daemon.kube.NodeApi;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.daemon.vram.kube.PodTerms;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Deletes pods of this node by the daemon's own account, after it has asked the PodDisruptionBudget. */
final class PodDeletion implements Actuator {

    private final NodeApi api;
    private final String resource;
    private final PodTerms pods;
    private final Duration mostGrace;
    private final NodeEvents events;

    PodDeletion(NodeApi api, String resource, PodTerms pods, Duration mostGrace, NodeEvents events) {
        this.api = api;
        this.resource = resource;
        this.pods = pods;
        this.mostGrace = mostGrace;
        this.events = events;
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
        Optional<BudgetedPod> known = pods.pod(tenant.id());
        if (known.isEmpty()) {
            return Outcome.refused("the list of budgets does not have " + tenant.name() + " any more");
        }
        try {
            Optional<Map<?, ?>> there =
                    api.pod(known.get().getNamespace(), known.get().getName());
            return there.isPresent() ? end(known.get(), there.get(), decision, recheck) : gone();
        } catch (IOException e) {
            return Outcome.refused("the pod cannot be read: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Outcome(false, "the daemon stops");
        }
    }

    private static Outcome gone() {
        return new Outcome(true, "the pod has ended already");
    }

    /** @param tree the pod as it is now */
    private Outcome end(BudgetedPod known, Map<?, ?> tree, Decision decision, Recheck recheck)
            throws InterruptedException {
        PodFacts pod = PodFacts.of(tree);
        if (!pod.uid().equals(known.getUid())) {
            return gone();
        }
        Optional<String> refusal = RemovalCheck.refusal(api.name(), known.getUid(), tree, resource);
        if (refusal.isPresent()) {
            return Outcome.refused(refusal.get());
        }
        if (pod.deleted().isPresent()) {
            return new Outcome(true, "the pod ends already");
        }
        Optional<String> objection = recheck.objection();
        if (objection.isPresent()) {
            return Outcome.noLongerNeeded(objection.get());
        }
        NodeApi.Answer answer = api.end(pod, RemovalCheck.grace(mostGrace, tree));
        if (answer.ended() == NodeApi.Ended.DELETED) {
            events.warn(
                    "VramRecycled",
                    "gpuwarden has deleted the pod " + pod.path() + " (" + pod.uid() + "): " + decision.reason());
        }
        return new Outcome(answer.ended() != NodeApi.Ended.REFUSED, answer.text());
    }

    @Override
    public void rehearse(Decision decision, Tenant tenant) {
        pods.pod(tenant.id())
                .ifPresent(pod -> events.warn(
                        "VramWouldRecycle",
                        "Dry run: gpuwarden would delete the pod " + pod.getNamespace() + "/" + pod.getName() + " ("
                                + pod.getUid() + "): " + decision.reason()));
    }
}
