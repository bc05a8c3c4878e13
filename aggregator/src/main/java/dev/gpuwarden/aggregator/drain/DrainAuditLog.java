package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.drain.DrainEvents.DrainText;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** The audit log of drains: each decision, and the result for each pod. */
public final class DrainAuditLog {

    private final Consumer<DrainAudit> audits;

    DrainAuditLog(Consumer<DrainAudit> audits) {
        this.audits = audits;
    }

    void decided(CachedNode node, DrainDecision decision, Instant now) {
        String kind = decision.kind().name().toLowerCase(Locale.ROOT);
        add(node, now, false, kind, DrainText.of(decision.record()), pods(decision), decision.patch());
    }

    void rehearsed(CachedNode node, DrainDryRun dryRun, DrainDecision decision) {
        add(node, dryRun.at(), true, "start", dryRun.text(), pods(decision), decision.patch());
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

    /**
     * An audit record of a drain: a decision about a node's pods, or its result for one pod.
     *
     * @param decision start, extend, reopen, finish or cancel of a drain; evict, delete, evicted, deleted, gone, refused, signal or
     *     signalled of a pod
     * @param reason text for operators
     * @param pods pods of the decision, each with its next step
     * @param patch JSON patch of the Node; empty if the Node is not written
     */
    public record DrainAudit(
            Instant at,
            String node,
            String uid,
            String resourceVersion,
            boolean dryRun,
            String decision,
            String reason,
            List<String> pods,
            List<Map<String, Object>> patch) {

        public Map<String, Object> toTree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("at", at.toString());
            tree.put("node", node);
            tree.put("uid", uid);
            tree.put("resourceVersion", resourceVersion);
            tree.put("mode", dryRun ? "dry_run" : "armed");
            tree.put("decision", "drain_" + decision);
            tree.put("reason", reason);
            tree.put("pods", pods);
            tree.put("patch", patch);
            return tree;
        }
    }
}
