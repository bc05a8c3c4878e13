package dev.gpuwarden.aggregator.ruleset;

import dev.cel.runtime.CelEvaluationException;
import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.core.event.HealthEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * All rule sets, those that can be used compiled. One that cannot be used says so in its condition, and costs the others
 * nothing. Immutable and thread-safe.
 */
public final class RuleEvaluator {

    public static final RuleEvaluator EMPTY = new RuleEvaluator(List.of(), List.of());

    private final List<CompiledRuleSet> ready;
    private final List<RuleCondition> conditions;

    private RuleEvaluator(List<CompiledRuleSet> ready, List<RuleCondition> conditions) {
        this.ready = List.copyOf(ready);
        this.conditions = List.copyOf(conditions);
    }

    /** A rule set that could not answer for this event, which it is then not met by. */
    public record Unanswered(String ruleSet, String why) {}

    /**
     * @param met in order of their names
     * @param unanswered what those who wrote the rules should know
     */
    public record Matches(List<QuarantineRuleSet> met, List<Unanswered> unanswered) {}

    /** Takes milliseconds for each rule set, the first one a second: not for a hot path. */
    public static RuleEvaluator compile(Collection<QuarantineRuleSet> ruleSets) {
        List<CompiledRuleSet> ready = new ArrayList<>();
        List<RuleCondition> conditions = new ArrayList<>();
        for (QuarantineRuleSet set : ruleSets.stream()
                .sorted(Comparator.comparing(QuarantineRuleSet::name))
                .toList()) {
            if (!set.enabled()) {
                conditions.add(new RuleCondition(
                        set.name(), set.generation(), false, "Disabled", "spec.enabled is false: it is not asked"));
                continue;
            }
            try {
                ready.add(CompiledRuleSet.compile(set));
                conditions.add(new RuleCondition(set.name(), set.generation(), true, "Ready", "every clause compiles"));
            } catch (InvalidExpressionException e) {
                conditions.add(new RuleCondition(
                        set.name(), set.generation(), false, e.reason().name(), String.valueOf(e.getMessage())));
            }
        }
        return new RuleEvaluator(ready, conditions);
    }

    /** One for each rule set, in order of their names. */
    public List<RuleCondition> conditions() {
        return conditions;
    }

    /**
     * Which rule sets an event on a node meets.
     *
     * @param node as the API server has it, with maps for labels and annotations even where it has none
     */
    public Matches match(HealthEvent event, Map<String, Object> node) {
        Map<String, Object> tree = HealthEventFields.of(event);
        List<QuarantineRuleSet> met = new ArrayList<>();
        List<Unanswered> unanswered = new ArrayList<>();
        for (CompiledRuleSet rule : ready) {
            try {
                if (rule.test(tree, node)) {
                    met.add(rule.source());
                }
            } catch (CelEvaluationException e) {
                unanswered.add(new Unanswered(rule.source().name(), String.valueOf(e.getMessage())));
            }
        }
        return new Matches(met, unanswered);
    }

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
}
