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
 * All rule sets, compiled. A rule set that cannot be used has the reason in its condition, and does not affect the others.
 * Immutable and thread-safe.
 */
public final class RuleEvaluator {

    public static final RuleEvaluator EMPTY = new RuleEvaluator(List.of(), List.of());

    private final List<CompiledRuleSet> ready;
    private final List<RuleCondition> conditions;

    private RuleEvaluator(List<CompiledRuleSet> ready, List<RuleCondition> conditions) {
        this.ready = List.copyOf(ready);
        this.conditions = List.copyOf(conditions);
    }

    /** A rule set that failed on an event. The event does not meet it. */
    public record Unanswered(String ruleSet, String why) {}

    /**
     * @param met the rule sets that the event meets, by name
     * @param unanswered the rule sets that failed, for their authors
     */
    public record Matches(List<QuarantineRuleSet> met, List<Unanswered> unanswered) {}

    /** Compiles rule sets. Each one takes milliseconds, the first one a second: not for a hot path. */
    public static RuleEvaluator compile(Collection<QuarantineRuleSet> ruleSets) {
        List<CompiledRuleSet> ready = new ArrayList<>();
        List<RuleCondition> conditions = new ArrayList<>();
        for (QuarantineRuleSet set : ruleSets.stream()
                .sorted(Comparator.comparing(QuarantineRuleSet::name))
                .toList()) {
            if (!set.enabled()) {
                conditions.add(new RuleCondition(
                        set.name(), set.generation(), false, "Disabled", "spec.enabled is false: it is not evaluated"));
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

    /** Returns one condition for each rule set, by name. */
    public List<RuleCondition> conditions() {
        return conditions;
    }

    /**
     * Returns the rule sets that an event on a node meets.
     *
     * @param node the Node in the form of the API server, with maps for labels and annotations even if it has none
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
     * The condition `Ready` of a rule set: true if it is evaluated, else the reason.
     *
     * @param reason Ready, Disabled, DoesNotCompile, TooCostly or NeverMatches
     * @param message the text for the author: the clause, line and column, the available fields
     */
    public record RuleCondition(String ruleSet, long generation, boolean ready, String reason, String message) {}
}
