package dev.gpuwarden.aggregator.rules;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.cluster.Kind;
import dev.gpuwarden.aggregator.cluster.Mirror;
import dev.gpuwarden.aggregator.cluster.ReadyStatus;
import dev.gpuwarden.aggregator.json.Trees;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The cluster's QuarantineRuleSets as they are now, compiled; and in their status what is wrong with them. Thread-safe. */
public final class RuleShelf {

    public static final Kind KIND =
            Kind.ofCluster("gpuwarden.dev", "v1alpha1", "quarantinerulesets", "QuarantineRuleSet");

    private final ReadyStatus status;
    private final Runnable changed;
    private final Map<String, Map<String, Object>> resources = new TreeMap<>();
    private boolean complete;
    private volatile RuleBook book = RuleBook.EMPTY;
    private volatile List<RuleCondition> conditions = List.of();

    /** @param changed told when the rules are others */
    public RuleShelf(ClusterApi api, Clock clock, Runnable changed) {
        this.status = new ReadyStatus(api, clock, KIND);
        this.changed = changed;
    }

    public RuleBook book() {
        return book;
    }

    /** One for each rule set, in order of their names. */
    public List<RuleCondition> conditions() {
        return conditions;
    }

    /** What follows the rule sets. Compiles, which takes milliseconds, in the thread that tells of a change. */
    public Mirror.Listener listener() {
        return new Mirror.Listener() {
            @Override
            public void there(String name, Map<String, Object> tree) {
                change(name, Optional.of(tree));
            }

            @Override
            public void gone(String name) {
                change(name, Optional.empty());
            }

            @Override
            public void complete() {
                synchronized (RuleShelf.this) {
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
        return resource.map(tree ->
                List.of(Trees.object(tree, "spec"), Trees.longNumber(Trees.object(tree, "metadata"), "generation")));
    }

    private void compile() {
        List<RuleSet> sets = new ArrayList<>();
        List<RuleCondition> all = new ArrayList<>();
        resources.forEach((name, resource) -> {
            try {
                sets.add(RuleSet.of(resource));
            } catch (IllegalArgumentException e) {
                long generation = Trees.longNumber(Trees.object(resource, "metadata"), "generation");
                all.add(new RuleCondition(name, generation, false, "Invalid", String.valueOf(e.getMessage())));
            }
        });
        RuleBook compiled = RuleBook.compile(sets);
        all.addAll(compiled.conditions());
        all.sort(java.util.Comparator.comparing(RuleCondition::ruleSet));
        conditions = List.copyOf(all);
        book = compiled;
        changed.run();
    }

    /** Writes into the status of this rule set what there is to be said of it. Blocks until it is there. */
    public void tell(String name) throws ClusterException, InterruptedException {
        Optional<RuleCondition> wanted = conditions.stream()
                .filter(condition -> condition.ruleSet().equals(name))
                .findFirst();
        if (wanted.isEmpty()) {
            return;
        }
        Map<String, Object> there = resource(name);
        Map<String, Object> condition = wanted.get().toTree();
        if (!ReadyStatus.says(there, condition)) {
            status.write(name, there, condition, Map.of());
        }
    }

    private synchronized Map<String, Object> resource(String name) {
        return resources.getOrDefault(name, Map.of());
    }
}
