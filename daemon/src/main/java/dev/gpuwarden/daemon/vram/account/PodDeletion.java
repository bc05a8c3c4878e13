package dev.gpuwarden.daemon.vram.account;

import dev.gpuwarden.api.kube.PodFacts;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.vram.RemovalCheck;
import dev.gpuwarden.daemon.kube.NodeApi;
import dev.gpuwarden.daemon.vram.kube.PodActuator;
import dev.gpuwarden.daemon.vram.kube.PodTerms;
import dev.gpuwarden.watchdog.decision.Decision;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Deletes pods of this node by the daemon's own account, after it has asked the PodDisruptionBudget. */
final class PodDeletion extends PodActuator {

    private final NodeApi api;
    private final String resource;
    private final Duration mostGrace;
    private final NodeEvents events;

    PodDeletion(NodeApi api, String resource, PodTerms pods, Duration mostGrace, NodeEvents events) {
        super(pods, "the list of budgets");
        this.api = api;
        this.resource = resource;
        this.mostGrace = mostGrace;
        this.events = events;
    }

    @Override
    protected Outcome end(BudgetedPod known, Decision decision, Recheck recheck) throws InterruptedException {
        try {
            Optional<Map<?, ?>> there = api.pod(known.getNamespace(), known.getName());
            return there.isPresent() ? end(known, there.get(), decision, recheck) : gone();
        } catch (IOException e) {
            return Outcome.refused("the pod cannot be read: " + e.getMessage());
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
    protected void rehearse(BudgetedPod pod, Decision decision) {
        events.warn(
                "VramWouldRecycle",
                "Dry run: gpuwarden would delete the pod " + pod.getNamespace() + "/" + pod.getName() + " ("
                        + pod.getUid() + "): " + decision.reason());
    }
}
