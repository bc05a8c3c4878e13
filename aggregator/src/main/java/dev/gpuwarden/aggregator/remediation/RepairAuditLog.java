package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** The audit log of repairs: each decision before it is carried out, and the result of each attempt. */
public final class RepairAuditLog {

    private final Consumer<RepairAudit> audits;

    RepairAuditLog(Consumer<RepairAudit> audits) {
        this.audits = audits;
    }

    void decided(
            CachedNode node,
            boolean dryRun,
            RepairDecision decision,
            List<Demand> faults,
            List<Map<String, Object>> patch,
            Instant now) {
        audits.accept(new RepairAudit(
                now,
                node.name(),
                node.uid(),
                node.resourceVersion(),
                dryRun,
                decision.kind().name().toLowerCase(Locale.ROOT),
                decision.why(),
                faults.stream().map(RepairAuditLog::text).toList(),
                decision.create().stream().map(Repair::resource).toList(),
                patch));
    }

    private static String text(Demand fault) {
        return fault.name() + " since " + fault.since() + ": " + fault.action().label() + " "
                + String.join(", ", fault.subjects());
    }

    void ended(CachedNode node, Repair repair, Repair.Result result) {
        audits.accept(new RepairAudit(
                result.at(),
                node.name(),
                node.uid(),
                node.resourceVersion(),
                false,
                result.outcome().name().toLowerCase(Locale.ROOT),
                RepairEvents.ended(repair, result),
                List.of(repair.why()),
                List.of(repair.resource()),
                List.of()));
    }

    /**
     * An audit record of a repair.
     *
     * @param decision act, approval, drain or person of a node; succeeded, failed, deleted or withdrawn of an attempt
     * @param reason text for operators
     * @param faults faults that request the repair
     * @param resources names of the resources that are made, or have ended
     * @param patch JSON patch of the Node; empty if the Node is not written
     */
    public record RepairAudit(
            Instant at,
            String node,
            String uid,
            String resourceVersion,
            boolean dryRun,
            String decision,
            String reason,
            List<String> faults,
            List<String> resources,
            List<Map<String, Object>> patch) {

        public Map<String, Object> toTree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("at", at.toString());
            tree.put("node", node);
            tree.put("uid", uid);
            tree.put("resourceVersion", resourceVersion);
            tree.put("mode", dryRun ? "dry_run" : "armed");
            tree.put("decision", "repair_" + decision);
            tree.put("reason", reason);
            tree.put("faults", faults);
            tree.put("resources", resources);
            tree.put("patch", patch);
            return tree;
        }
    }
}
