package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.drain.DrainEvents.DrainText;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** The audit log of drains: each decision, and the result for each pod. */
public record DrainAuditLog(Consumer<Entry> audits) {

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

    /**
     * Adds a decision about a node's pods, or its result for one pod.
     *
     * @param decision start, extend, reopen, finish or cancel of a drain; evict, delete, evicted, deleted, gone, refused, signal or
     *     signalled of a pod
     * @param pods pods of the decision, each with its next step
     * @param patch JSON patch of the Node; empty if the Node is not written
     */
    private void add(
            CachedNode node,
            Instant now,
            boolean dryRun,
            String decision,
            String reason,
            List<String> pods,
            List<Map<String, Object>> patch) {
        Map<String, Object> more = new LinkedHashMap<>();
        more.put("pods", pods);
        more.put("patch", patch);
        audits.accept(new Entry(
                now, node.name(), node.uid(), node.resourceVersion(), dryRun, "drain", decision, reason, more));
    }
}
