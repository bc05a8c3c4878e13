package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** The audit log of repairs: each decision before it is carried out, and the result of each attempt. */
public record RepairAuditLog(Consumer<Entry> audits) {

    void decided(
            CachedNode node,
            boolean dryRun,
            RepairDecision decision,
            List<Demand> faults,
            List<Map<String, Object>> patch,
            Instant now) {
        add(
                node,
                now,
                dryRun,
                decision.kind().name(),
                decision.why(),
                faults.stream().map(RepairAuditLog::text).toList(),
                decision.create().stream().map(Repair::resource).toList(),
                patch);
    }

    private static String text(Demand fault) {
        return fault.name() + " since " + fault.since() + ": " + fault.action().label() + " "
                + String.join(", ", fault.subjects());
    }

    void ended(CachedNode node, Repair repair, Repair.Result result) {
        add(
                node,
                result.at(),
                false,
                result.outcome().name(),
                RepairEvents.ended(repair, result),
                List.of(repair.why()),
                List.of(repair.resource()),
                List.of());
    }

    /**
     * Adds a decision, or the result of an attempt.
     *
     * @param decision act, approval, drain or person of a node; succeeded, failed, deleted or withdrawn of an attempt
     * @param faults faults that request the repair
     * @param resources names of the resources that are made, or have ended
     * @param patch JSON patch of the Node; empty if the Node is not written
     */
    private void add(
            CachedNode node,
            Instant at,
            boolean dryRun,
            String decision,
            String reason,
            List<String> faults,
            List<String> resources,
            List<Map<String, Object>> patch) {
        Map<String, Object> more = new LinkedHashMap<>();
        more.put("faults", faults);
        more.put("resources", resources);
        more.put("patch", patch);
        String what = decision.toLowerCase(Locale.ROOT);
        audits.accept(
                new Entry(at, node.name(), node.uid(), node.resourceVersion(), dryRun, "repair", what, reason, more));
    }
}
