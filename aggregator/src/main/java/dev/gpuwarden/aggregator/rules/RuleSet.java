package dev.gpuwarden.aggregator.rules;

import dev.gpuwarden.aggregator.json.Trees;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a QuarantineRuleSet says. It is met when every clause of {@code all} is true and, where {@code any} has clauses, one of
 * those too.
 *
 * @param generation the resource's, that conditions about it name
 * @param priority of two rule sets that want different values of one taint or label, the higher wins
 */
public record RuleSet(
        String name,
        long generation,
        boolean enabled,
        int priority,
        List<Clause> all,
        List<Clause> any,
        boolean cordon,
        Optional<Taint> taint,
        Optional<Label> label) {

    /** What senders' `quarantineOverrides.force` is recorded as: a cordon, whatever the rules say. */
    public static final RuleSet FORCED = new RuleSet(
            "quarantineOverrides.force", 0, true, 0, List.of(), List.of(), true, Optional.empty(), Optional.empty());

    public RuleSet {
        all = List.copyOf(all);
        any = List.copyOf(any);
    }

    /**
     * @param resource as the API server has it
     * @throws IllegalArgumentException with field, expected and seen, for what the schema would refuse as well
     */
    public static RuleSet of(Map<String, Object> resource) {
        Map<String, Object> metadata = Trees.object(resource, "metadata");
        Map<String, Object> spec = Trees.object(resource, "spec");
        Map<String, Object> match = Trees.object(spec, "match");
        RuleSet set = new RuleSet(
                Trees.text(metadata, "name"),
                Trees.longNumber(metadata, "generation"),
                !Boolean.FALSE.equals(spec.get("enabled")),
                Trees.number(spec, "priority"),
                clauses(match, "all"),
                clauses(match, "any"),
                Trees.isTrue(Trees.object(spec, "cordon"), "shouldCordon"),
                taint(Trees.object(spec, "taint")),
                label(Trees.object(spec, "label")));
        if (set.all.isEmpty() && set.any.isEmpty()) {
            throw new IllegalArgumentException("spec.match: expected at least one clause in all or any, there is none");
        }
        if (!set.cordon && set.taint.isEmpty() && set.label.isEmpty()) {
            throw new IllegalArgumentException(
                    "spec: expected cordon.shouldCordon, taint or label, there is none of them");
        }
        return set;
    }

    private static List<Clause> clauses(Map<String, Object> match, String field) {
        List<Clause> clauses = new ArrayList<>();
        for (Map<String, Object> clause : Trees.objects(match, field)) {
            String kind = Trees.text(clause, "kind");
            clauses.add(new Clause(
                    Clause.Kind.of(kind)
                            .orElseThrow(() -> new IllegalArgumentException("spec.match." + field
                                    + ".kind: expected HealthEvent or Node, found \"" + kind + "\"")),
                    Trees.text(clause, "expression")));
        }
        return clauses;
    }

    private static Optional<Taint> taint(Map<String, Object> taint) {
        String key = Trees.text(taint, "key");
        return key.isEmpty()
                ? Optional.empty()
                : Optional.of(new Taint(key, Trees.text(taint, "value"), Trees.text(taint, "effect")));
    }

    private static Optional<Label> label(Map<String, Object> label) {
        String key = Trees.text(label, "key");
        return key.isEmpty() ? Optional.empty() : Optional.of(new Label(key, Trees.text(label, "value")));
    }
}
