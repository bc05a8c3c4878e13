package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Label;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A label that the quarantine asks for.
 *
 * @param priority of the rule set that won it
 * @param previous what somebody else had there before: it is put back at the end
 */
record AppliedLabel(Label label, int priority, Optional<String> previous) {

    Map<String, Object> toTree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("key", label.key());
        tree.put("value", label.value());
        if (priority != 0) {
            tree.put("priority", (long) priority);
        }
        previous.ifPresent(value -> tree.put("previous", value));
        return tree;
    }
}
