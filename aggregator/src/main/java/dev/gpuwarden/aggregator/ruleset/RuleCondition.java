package dev.gpuwarden.aggregator.ruleset;

/**
 * The condition `Ready` of a rule set: whether it is asked at all, and if not, why.
 *
 * @param reason Ready, Disabled, DoesNotCompile, TooCostly or NeverMatches
 * @param message for its author: which clause, line and column, what is available
 */
public record RuleCondition(String ruleSet, long generation, boolean ready, String reason, String message) {

    /** As the resource's status has it, less the time of its last change. */
    public java.util.Map<String, Object> toTree() {
        return java.util.Map.of(
                "type", "Ready",
                "status", ready ? "True" : "False",
                "observedGeneration", generation,
                "reason", reason,
                "message", message);
    }
}
