package dev.gpuwarden.aggregator.ruleset;

import dev.gpuwarden.aggregator.cache.CachedNode.Taint;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The content of a QuarantineRuleSet. An event meets it if every clause of {@code all} is true, and at least one of {@code any}
 * if there are some.
 *
 * @param generation the generation of the resource, which its conditions name
 * @param priority the rank among rule sets; if two set different values of one taint or label, the higher one wins
 */
public record QuarantineRuleSet(
        String name,
        long generation,
        boolean enabled,
        int priority,
        List<Clause> all,
        List<Clause> any,
        boolean cordon,
        Optional<Taint> taint,
        Optional<Label> label) {

    /** The rule set under which `quarantineOverrides.force` of a sender is recorded: a cordon, whatever the rules are. */
    public static final QuarantineRuleSet FORCED = new QuarantineRuleSet(
            "quarantineOverrides.force", 0, true, 0, List.of(), List.of(), true, Optional.empty(), Optional.empty());

    public QuarantineRuleSet {
        all = List.copyOf(all);
        any = List.copyOf(any);
    }

    /**
     * @param resource the resource in the form of the API server
     * @throws IllegalArgumentException with field, expected and found value, for a resource that the schema refuses as well
     */
    public static QuarantineRuleSet of(Map<String, Object> resource) {
        Map<String, Object> metadata = JsonTrees.object(resource, "metadata");
        Map<String, Object> spec = JsonTrees.object(resource, "spec");
        Map<String, Object> match = JsonTrees.object(spec, "match");
        QuarantineRuleSet set = new QuarantineRuleSet(
                JsonTrees.text(metadata, "name"),
                JsonTrees.longNumber(metadata, "generation"),
                !Boolean.FALSE.equals(spec.get("enabled")),
                JsonTrees.number(spec, "priority"),
                clauses(match, "all"),
                clauses(match, "any"),
                JsonTrees.isTrue(JsonTrees.object(spec, "cordon"), "shouldCordon"),
                taint(JsonTrees.object(spec, "taint")),
                label(JsonTrees.object(spec, "label")));
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
        for (Map<String, Object> clause : JsonTrees.objects(match, field)) {
            String kind = JsonTrees.text(clause, "kind");
            clauses.add(new Clause(
                    Clause.Kind.of(kind)
                            .orElseThrow(() -> new IllegalArgumentException("spec.match." + field
                                    + ".kind: expected HealthEvent or Node, found \"" + kind + "\"")),
                    JsonTrees.text(clause, "expression")));
        }
        return clauses;
    }

    private static Optional<Taint> taint(Map<String, Object> taint) {
        String key = JsonTrees.text(taint, "key");
        return key.isEmpty()
                ? Optional.empty()
                : Optional.of(new Taint(key, JsonTrees.text(taint, "value"), JsonTrees.text(taint, "effect")));
    }

    private static Optional<Label> label(Map<String, Object> label) {
        String key = JsonTrees.text(label, "key");
        return key.isEmpty() ? Optional.empty() : Optional.of(new Label(key, JsonTrees.text(label, "value")));
    }

    public record Label(String key, String value) {

        @Override
        public String toString() {
            return key + "=" + value;
        }
    }

    /** One condition of a rule set: a CEL expression on an event, or on a Node. */
    public record Clause(Kind kind, String expression) {

        public enum Kind {
            HEALTH_EVENT("HealthEvent", "event"),
            NODE("Node", "node");

            /** The name in the resource. */
            private final String label;

            private final String variable;

            Kind(String label, String variable) {
                this.label = label;
                this.variable = variable;
            }

            /** Returns the variable that contains the subject in expressions of this kind. */
            public String variable() {
                return variable;
            }

            static Optional<Kind> of(String label) {
                return Arrays.stream(values())
                        .filter(kind -> kind.label.equals(label))
                        .findFirst();
            }
        }
    }
}
