package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Who looks later finds here what was decided, and on what evidence.
 *
 * @param resourceVersion of the Node that was read
 * @param faults that hold the node, or that it is returned or cancelled without
 * @param rules that were met
 * @param unanswered rules that could not answer, with why
 * @param breaker what it said, where it was asked
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

    /** Whether the same was decided again of another version of the Node, since somebody had written that meanwhile. */
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
     * What of the Node is written, without the values, in which is the time. A Node that had no annotations needs room for the
     * first one, which is no part of what was decided.
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
