package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.api.kube.NodeView;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeLabels;
import dev.gpuwarden.core.event.Fault;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Computes the patch of a Node's labels. Pure; changes only the labels that gpuwarden owns. */
final class LabelPatch {

    private static final Set<String> OWN = Set.of(NodeLabels.GPU_HEALTH);

    private LabelPatch() {}

    /**
     * Returns the new value of each label that must change, null for one to be removed; empty if no label changes.
     *
     * @param complete true if every check has run since the start; until then a fault can add a label, but no label
     *     is removed or improved, so that a restart changes nothing
     */
    static Map<String, @Nullable String> of(
            List<CheckResult> results, boolean complete, List<Fault> faults, NodeView there) {
        boolean fatal = faults.stream()
                .anyMatch(fault ->
                        fault.cause().fatal() && fault.cause().strategy().actedOn());
        Map<String, @Nullable String> changes = new LinkedHashMap<>();
        if (!complete && !fatal) {
            return changes;
        }
        Map<String, String> wanted = NodeLabels.of(results, faults);
        for (String label : OWN) {
            Optional<String> now = Optional.ofNullable(wanted.get(label));
            if (!now.equals(Optional.ofNullable(there.labels().get(label)))) {
                changes.put(label, now.orElse(null));
            }
        }
        return changes;
    }

    /** Returns the body of a merge patch. */
    static Map<String, Object> body(Map<String, @Nullable String> changes) {
        return Map.of("metadata", Map.of("labels", changes));
    }
}
