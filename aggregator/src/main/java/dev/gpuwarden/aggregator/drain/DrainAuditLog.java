package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** What is recorded of drains: each decision, and what came of each pod. */
final class DrainAuditLog {

    private final Consumer<DrainAudit> audits;

    DrainAuditLog(Consumer<DrainAudit> audits) {
        this.audits = audits;
    }

    void decided(CachedNode node, DrainDecision decision, Instant now) {
        String kind = decision.kind().name().toLowerCase(Locale.ROOT);
        add(node, now, false, kind, DrainText.of(decision.record()), pods(decision), decision.patch());
    }

    void rehearsed(CachedNode node, DrainDryRun said, DrainDecision decision) {
        add(node, said.at(), true, "start", said.text(), pods(decision), decision.patch());
    }

    void cancelled(CachedNode node, List<String> left, Instant now) {
        add(node, now, false, "cancel", "the node is released; its other pods stay", left, List.of());
    }

    void pod(CachedNode node, String what, String why, PodView pod, Instant now) {
        add(node, now, false, what, why, List.of(pod.path() + " " + pod.uid()), List.of());
    }

    private static List<String> pods(DrainDecision decision) {
        return decision.plan().stream()
                .map(plan -> plan.pod().path() + " " + plan.step().name().toLowerCase(Locale.ROOT)
                        + (plan.reason().isEmpty() ? "" : ": " + plan.reason()))
                .toList();
    }

    private void add(
            CachedNode node,
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
