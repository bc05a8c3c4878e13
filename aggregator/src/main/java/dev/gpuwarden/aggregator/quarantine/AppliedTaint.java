package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.Taint;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A taint that the quarantine asks for.
 *
 * @param priority of the rule set that won it
 * @param preExisting whether somebody else had put the same one there before: it stays then
 */
record AppliedTaint(Taint taint, int priority, boolean preExisting) {

    Map<String, Object> toTree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("key", taint.key());
        tree.put("value", taint.value());
        tree.put("effect", taint.effect());
        tree.put("preExisting", preExisting);
        if (priority != 0) {
            tree.put("priority", (long) priority);
        }
        return tree;
    }
}
