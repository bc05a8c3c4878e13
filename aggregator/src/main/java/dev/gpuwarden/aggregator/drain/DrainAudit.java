package dev.gpuwarden.aggregator.drain;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Who looks later finds here what was decided about a node's pods, and what came of it.
 *
 * @param decision start, extend, reopen, finish, cancel of a drain; evict, delete, evicted, deleted, refused of a pod
 * @param reason for people
 * @param pods those that the decision is about, each with what is to become of it
 * @param patch of the Node; empty where it is not written
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
