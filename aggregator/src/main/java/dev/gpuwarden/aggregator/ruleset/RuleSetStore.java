package dev.gpuwarden.aggregator.ruleset;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ReadyConditionWriter;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.RuleCondition;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The cluster's QuarantineRuleSets as they are now, compiled; and in their status what is wrong with them. Thread-safe. */
public final class RuleSetStore {

    public static final ResourceKind KIND =
            ResourceKind.ofCluster("gpuwarden.dev", "v1alpha1", "quarantinerulesets", "QuarantineRuleSet");

    private final ReadyConditionWriter status;
    private final Runnable changed;
    private final Map<String, Map<String, Object>> resources = new TreeMap<>();
    private boolean complete;
    private volatile RuleEvaluator book = RuleEvaluator.EMPTY;
    private volatile List<RuleCondition> conditions = List.of();

    /** @param changed told when the rules are others */
    public RuleSetStore(KubeClient api, Clock clock, Runnable changed) {
        this.status = new ReadyConditionWriter(api, clock, KIND);
        this.changed = changed;
    }

    public RuleEvaluator book() {
        return book;
    }

    /** One for each rule set, in order of their names. */
    public List<RuleCondition> conditions() {
        return conditions;
    }

    /** What follows the rule sets. Compiles, which takes milliseconds, in the thread that tells of a change. */
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
        // Our own writes of conditions come back here too.
        if (complete && !spec(before).equals(spec(resource))) {
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

    /** Writes into the status of this rule set what there is to be said of it. Blocks until it is there. */
    public void tell(String name) throws ApiException, InterruptedException {
        Optional<RuleCondition> wanted = conditions.stream()
                .filter(condition -> condition.ruleSet().equals(name))
                .findFirst();
        if (wanted.isEmpty()) {
            return;
        }
        Map<String, Object> there = resource(name);
        Map<String, Object> condition = wanted.get().toTree();
        if (!ReadyConditionWriter.says(there, condition)) {
            status.write(name, there, condition, Map.of());
        }
    }

    private synchronized Map<String, Object> resource(String name) {
        return resources.getOrDefault(name, Map.of());
    }
}
