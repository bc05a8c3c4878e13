package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A decision about one Node and its evidence, for a later reader.
 *
 * @param resourceVersion the version of the Node that was read
 * @param faults the faults that hold the node; for a return or a cancellation, the faults that remain
 * @param rules the names of the rule sets that matched
 * @param unanswered the rule sets that could not be evaluated, each with the reason
 * @param breaker the breaker's answer; empty where no request was made
 */
public record AuditRecord(
        Instant at,
        String node,
        String uid,
        String resourceVersion,
        ActionMode mode,
        Decision.Kind kind,
        String reason,
        List<String> faults,
        List<String> rules,
        List<String> unanswered,
        String breaker,
        List<Map<String, Object>> patch) {

    /** Returns true if this is the same decision for a later version of the Node, after a write by another writer. */
    boolean repeats(AuditRecord before) {
        return uid.equals(before.uid)
                && mode == before.mode
                && kind == before.kind
                && reason.equals(before.reason)
                && faults.equals(before.faults)
                && rules.equals(before.rules)
                && unanswered.equals(before.unanswered)
                && breaker.equals(before.breaker)
                && touched().equals(before.touched());
    }

    /**
     * Returns the operations and paths of the patch. The values are left out, because they contain the time. The creation of a
     * missing map of annotations or labels is left out too: it is no part of the decision.
     */
    private List<String> touched() {
        return patch.stream()
                .filter(step -> !"test".equals(step.get("op")))
                .filter(step -> !NodePatch.ROOM.contains(String.valueOf(step.get("path"))))
                .map(step -> step.get("op") + " " + step.get("path"))
                .toList();
    }

    public Map<String, Object> toTree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("at", at.toString());
        tree.put("node", node);
        tree.put("uid", uid);
        tree.put("resourceVersion", resourceVersion);
        tree.put("mode", mode.name().toLowerCase(Locale.ROOT));
        tree.put("decision", kind.name().toLowerCase(Locale.ROOT));
        tree.put("reason", reason);
        tree.put("faults", faults);
        tree.put("rules", rules);
        tree.put("unanswered", unanswered);
        tree.put("breaker", breaker);
        tree.put("patch", patch);
        return tree;
    }
}
