package dev.gpuwarden.aggregator.ruleset;

import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.Unanswered;
import dev.gpuwarden.core.util.Text;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The nodes for whose current faults a rule set cannot be evaluated. Thread-safe. */
final class RuleErrors {

    private static final int LONGEST_REASON = 300;

    /** The reason for each node, by rule set and node. */
    private final Map<String, TreeMap<String, String>> byRuleSet = new HashMap<>();

    /**
     * Replaces the errors of a node by its present ones.
     *
     * @return the rule sets whose {@link #first} has changed
     */
    synchronized Set<String> replace(String node, List<Unanswered> unanswered) {
        Map<String, String> now = new HashMap<>();
        unanswered.forEach(one -> now.putIfAbsent(one.ruleSet(), Text.truncate(one.why(), LONGEST_REASON)));
        Set<String> concerned = new HashSet<>(byRuleSet.keySet());
        concerned.addAll(now.keySet());
        concerned.removeIf(ruleSet -> {
            Optional<String> before = first(ruleSet);
            TreeMap<String, String> nodes = byRuleSet.computeIfAbsent(ruleSet, any -> new TreeMap<>());
            Optional.ofNullable(now.get(ruleSet))
                    .ifPresentOrElse(why -> nodes.put(node, why), () -> nodes.remove(node));
            if (nodes.isEmpty()) {
                byRuleSet.remove(ruleSet);
            }
            return before.equals(first(ruleSet));
        });
        return concerned;
    }

    /** Returns the first of the nodes by name, with the reason; empty if the rule set can be evaluated for all. */
    synchronized Optional<String> first(String ruleSet) {
        return Optional.ofNullable(byRuleSet.get(ruleSet))
                .map(TreeMap::firstEntry)
                .map(entry -> entry.getKey() + ": " + entry.getValue());
    }

    /** Forgets the errors of a rule set whose expressions have changed, or that is gone. */
    synchronized void forget(String ruleSet) {
        byRuleSet.remove(ruleSet);
    }

    synchronized void clear() {
        byRuleSet.clear();
    }
}
