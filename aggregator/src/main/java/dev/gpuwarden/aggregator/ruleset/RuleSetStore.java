package dev.gpuwarden.aggregator.ruleset;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ReadyConditionWriter;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.RuleCondition;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.Unanswered;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The cluster's QuarantineRuleSets, compiled; it writes their errors into their status. Thread-safe. */
public final class RuleSetStore {

    public static final ResourceKind KIND =
            ResourceKind.ofCluster("gpuwarden.dev", "v1alpha1", "quarantinerulesets", "QuarantineRuleSet");

    private final ReadyConditionWriter status;
    private final Runnable changed;
    private final Consumer<String> failed;
    private final RuleErrors errors = new RuleErrors();
    private final Map<String, Map<String, Object>> resources = new TreeMap<>();
    private boolean complete;
    private volatile RuleEvaluator book = RuleEvaluator.EMPTY;
    private volatile List<RuleCondition> conditions = List.of();

    /**
     * @param changed called after the rules changed
     * @param failed called with a rule set whose condition changed because it can or cannot be evaluated
     */
    public RuleSetStore(KubeClient api, Clock clock, Runnable changed, Consumer<String> failed) {
        this.status = new ReadyConditionWriter(api, clock, KIND);
        this.changed = changed;
        this.failed = failed;
    }

    public RuleEvaluator book() {
        return book;
    }

    /** Returns one condition for each rule set, by name. */
    public List<RuleCondition> conditions() {
        return conditions.stream().map(this::withErrors).toList();
    }

    private RuleCondition withErrors(RuleCondition compiled) {
        Optional<String> error = compiled.ready() ? errors.first(compiled.ruleSet()) : Optional.empty();
        return error.map(first -> new RuleCondition(
                        compiled.ruleSet(),
                        compiled.generation(),
                        false,
                        "ClauseErrors",
                        "a clause fails for the faults of some nodes, which then do not meet the rule set: test absent"
                                + " fields first; " + first))
                .orElse(compiled);
    }

    /**
     * Takes the result of an evaluation of a node's current faults.
     *
     * @param unanswered the rule sets that failed; empty if none did, or the node has no faults or is gone
     */
    public void evaluated(String node, List<Unanswered> unanswered) {
        errors.replace(node, unanswered).forEach(failed);
    }

    /** Forgets what was evaluated: another replica decides now. */
    public void forgetErrors() {
        errors.clear();
    }

    /** Returns the listener of the informer. It compiles, which takes milliseconds, in the informer's thread. */
    public ResourceInformer.Listener listener() {
        return new ResourceInformer.Listener() {
            @Override
            public void onUpsert(String name, Map<String, Object> tree) {
                change(name, Optional.of(tree));
            }

            @Override
            public void onDelete(String name) {
                change(name, Optional.empty());
            }

            @Override
            public void onSynced() {
                synchronized (RuleSetStore.this) {
                    complete = true;
                    compile();
                }
            }
        };
    }

    private synchronized void change(String name, Optional<Map<String, Object>> resource) {
        Optional<Map<String, Object>> before = Optional.ofNullable(
                resource.isPresent() ? resources.put(name, resource.get()) : resources.remove(name));
        // Our own writes of conditions arrive here too.
        if (complete && !spec(before).equals(spec(resource))) {
            // The errors of the others are still those of their expressions.
            errors.forget(name);
            compile();
        }
    }

    private static Optional<Object> spec(Optional<Map<String, Object>> resource) {
        return resource.map(tree -> List.of(
                JsonTrees.object(tree, "spec"),
                JsonTrees.longNumber(JsonTrees.object(tree, "metadata"), "generation")));
    }

    private void compile() {
        List<QuarantineRuleSet> sets = new ArrayList<>();
        List<RuleCondition> all = new ArrayList<>();
        resources.forEach((name, resource) -> {
            try {
                sets.add(QuarantineRuleSet.of(resource));
            } catch (IllegalArgumentException e) {
                long generation = JsonTrees.longNumber(JsonTrees.object(resource, "metadata"), "generation");
                all.add(new RuleCondition(name, generation, false, "Invalid", String.valueOf(e.getMessage())));
            }
        });
        RuleEvaluator compiled = RuleEvaluator.compile(sets);
        all.addAll(compiled.conditions());
        all.sort(java.util.Comparator.comparing(RuleCondition::ruleSet));
        conditions = List.copyOf(all);
        book = compiled;
        changed.run();
    }

    /** Writes the condition of a rule set into its status. Blocks until it is stored. */
    public void updateStatus(String name) throws ApiException, InterruptedException {
        Optional<RuleCondition> wanted = conditions().stream()
                .filter(condition -> condition.ruleSet().equals(name))
                .findFirst();
        if (wanted.isEmpty()) {
            return;
        }
        Map<String, Object> there = resource(name);
        RuleCondition now = wanted.get();
        Map<String, Object> condition =
                ReadyConditionWriter.condition(now.ready(), now.generation(), now.reason(), now.message());
        if (!ReadyConditionWriter.hasCondition(there, condition)) {
            status.write(name, there, condition, Map.of());
        }
    }

    private synchronized Map<String, Object> resource(String name) {
        return resources.getOrDefault(name, Map.of());
    }
}
