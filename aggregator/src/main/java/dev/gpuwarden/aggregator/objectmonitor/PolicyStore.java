package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus.Trouble;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The cluster's MonitorPolicies, compiled. A policy that cannot be used does not affect the others. Thread-safe. */
final class PolicyStore {

    static final ResourceKind KIND =
            ResourceKind.ofCluster("gpuwarden.dev", "v1alpha1", "monitorpolicies", MonitorPolicy.KIND);

    /**
     * The annotation that confirms a policy. Its value is the confirmed generation, so that a changed policy needs another one.
     */
    static final String CONFIRM = "gpuwarden.dev/confirm-matches-everything";

    /**
     * @param readable the content of the policy; empty if it cannot be read
     * @param run the policy in use; empty if it cannot be evaluated, or is disabled
     * @param trouble the reason why it has no run
     * @param tree the resource in the form of the API server
     */
    record Entry(
            long generation,
            Optional<MonitorPolicy> readable,
            Optional<PolicyStats> run,
            Optional<Trouble> trouble,
            Map<String, Object> tree) {

        /** Returns whether an operator has confirmed that this generation may match so much of the cluster. */
        boolean confirmed() {
            Map<String, String> annotations = JsonTrees.texts(JsonTrees.object(tree, "metadata"), "annotations");
            return Long.toString(generation).equals(annotations.get(CONFIRM));
        }

        boolean disabled() {
            return readable.isPresent() && !readable.get().enabled();
        }
    }

    private final Runnable changed;
    private final Map<String, Entry> entries = new TreeMap<>();
    private boolean complete;
    private int term;

    /** @param changed called after policies changed, once all have arrived; must be quick */
    PolicyStore(Runnable changed) {
        this.changed = changed;
    }

    /** Returns a new listener for the policies. Calls to an earlier listener are ignored from now on. */
    synchronized ResourceInformer.Listener begin() {
        clear();
        int mine = term;
        return new ResourceInformer.Listener() {
            @Override
            public void onUpsert(String name, Map<String, Object> tree) {
                if (isTerm(mine)) {
                    PolicyStore.this.there(name, tree);
                }
            }

            @Override
            public void onDelete(String name) {
                if (isTerm(mine)) {
                    PolicyStore.this.gone(name);
                }
            }

            @Override
            public void onSynced() {
                if (isTerm(mine)) {
                    PolicyStore.this.complete();
                }
            }
        };
    }

    private synchronized boolean isTerm(int number) {
        return term == number;
    }

    private void there(String name, Map<String, Object> tree) {
        Optional<Entry> before = entry(name);
        Map<String, Object> spec = JsonTrees.object(tree, "spec");
        boolean same = before.isPresent()
                && JsonTrees.object(before.get().tree(), "spec").equals(spec)
                && before.get().generation() == generation(tree);
        // Our own writes of conditions arrive here too.
        Entry entry = same
                ? new Entry(
                        before.get().generation(),
                        before.get().readable(),
                        before.get().run(),
                        before.get().trouble(),
                        tree)
                : compile(tree, before.flatMap(Entry::run));
        synchronized (this) {
            entries.put(name, entry);
            boolean news = !same || before.get().confirmed() != entry.confirmed();
            if (!news || !complete) {
                return;
            }
        }
        changed.run();
    }

    private static long generation(Map<String, Object> tree) {
        return JsonTrees.longNumber(JsonTrees.object(tree, "metadata"), "generation");
    }

    private static Entry compile(Map<String, Object> resource, Optional<PolicyStats> before) {
        long generation = generation(resource);
        MonitorPolicy policy;
        try {
            policy = MonitorPolicy.of(resource);
        } catch (IllegalArgumentException e) {
            Trouble trouble = new Trouble("Invalid", String.valueOf(e.getMessage()));
            return new Entry(generation, Optional.empty(), Optional.empty(), Optional.of(trouble), resource);
        }
        if (!policy.enabled()) {
            Trouble trouble = new Trouble("Disabled", "spec.enabled is false: nothing is watched or reported");
            return new Entry(generation, Optional.of(policy), Optional.empty(), Optional.of(trouble), resource);
        }
        Optional<PolicyStats> same = before.filter(run -> run.source().asksAs(policy));
        if (same.isPresent()) {
            return new Entry(generation, Optional.of(policy), same, Optional.empty(), resource);
        }
        try {
            PolicyStats run = new PolicyStats(CompiledPolicy.compile(policy));
            return new Entry(generation, Optional.of(policy), Optional.of(run), Optional.empty(), resource);
        } catch (InvalidExpressionException e) {
            Trouble trouble = new Trouble(
                    e.reason().name(),
                    e.getMessage() + "; the faults that it reported before stay until it is corrected or deleted");
            return new Entry(generation, Optional.of(policy), Optional.empty(), Optional.of(trouble), resource);
        }
    }

    private void gone(String name) {
        synchronized (this) {
            entries.remove(name);
            if (!complete) {
                return;
            }
        }
        changed.run();
    }

    private void complete() {
        synchronized (this) {
            complete = true;
        }
        changed.run();
    }

    /** Forgets all policies. */
    synchronized void clear() {
        term++;
        complete = false;
        entries.clear();
    }

    /** Returns whether all policies have arrived. */
    synchronized boolean isComplete() {
        return complete;
    }

    synchronized Optional<Entry> entry(String name) {
        return Optional.ofNullable(entries.get(name));
    }

    /** Returns the policies by name, in order. */
    synchronized Map<String, Entry> entries() {
        return new LinkedHashMap<>(entries);
    }

    /** Returns the policy whose event is reported for matching objects; empty if it is not in use. */
    Optional<MonitorPolicy> template(String name) {
        return entry(name).filter(entry -> entry.run().isPresent()).flatMap(Entry::readable);
    }

    /** Returns the policies in use by the type of their objects. */
    Map<ResourceType, List<PolicyStats>> runs() {
        return entries().values().stream()
                .flatMap(entry -> entry.run().stream())
                .collect(Collectors.groupingBy(
                        run -> run.source().resource(), LinkedHashMap::new, Collectors.toUnmodifiableList()));
    }
}
