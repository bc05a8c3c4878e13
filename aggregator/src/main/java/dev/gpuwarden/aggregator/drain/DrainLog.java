package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.fleet.NodeRead;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** What is recorded of drains: each decision, and what came of each pod. */
final class DrainLog {

    private final Consumer<DrainAudit> audits;

    DrainLog(Consumer<DrainAudit> audits) {
        this.audits = audits;
    }

    void decided(NodeRead node, DrainDecision decision, Instant now) {
        String kind = decision.kind().name().toLowerCase(Locale.ROOT);
        add(node, now, false, kind, DrainText.of(decision.record()), pods(decision), decision.patch());
    }

    void rehearsed(NodeRead node, DrainRehearsal said, DrainDecision decision) {
        add(node, said.at(), true, "start", said.text(), pods(decision), decision.patch());
    }

    void cancelled(NodeRead node, List<String> left, Instant now) {
        add(node, now, false, "cancel", "the node is released; its other pods stay", left, List.of());
    }

    void pod(NodeRead node, String what, String why, PodRead pod, Instant now) {
        add(node, now, false, what, why, List.of(pod.path() + " " + pod.uid()), List.of());
    }

    private static List<String> pods(DrainDecision decision) {
        return decision.plan().stream()
                .map(plan -> plan.pod().path() + " " + plan.step().name().toLowerCase(Locale.ROOT)
                        + (plan.reason().isEmpty() ? "" : ": " + plan.reason()))
                .toList();
    }

    private void add(
            NodeRead node,
            Instant now,
            boolean dryRun,
            String decision,
            String reason,
            List<String> pods,
            List<Map<String, Object>> patch) {
        audits.accept(new DrainAudit(
                now, node.name(), node.uid(), node.resourceVersion(), dryRun, decision, reason, pods, patch));
    }
}
