package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.JsonTrees.PlainTree;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus.Trouble;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The cluster's MonitorPolicies as they are now, compiled. One that cannot be used costs the others nothing. Thread-safe. */
final class PolicyStore {

    static final ResourceKind KIND =
            ResourceKind.ofCluster("gpuwarden.dev", "v1alpha1", "monitorpolicies", MonitorPolicy.KIND);

    /** Its value is the generation that is confirmed, so that a changed policy needs another one. */
    static final String CONFIRM = "gpuwarden.dev/confirm-matches-everything";

    /**
     * A policy as it stands here.
     *
     * @param readable what it says; empty where that cannot be read
     * @param run empty where it cannot be asked, or is not to be
     * @param trouble why it has no run
     * @param tree as the API server has it
     */
    record Entry(
            long generation,
            Optional<MonitorPolicy> readable,
            Optional<PolicyStats> run,
            Optional<Trouble> trouble,
            Map<String, Object> tree) {

        /** Whether a person has confirmed that this generation may match so much of the cluster. */
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

    /** @param changed told when policies are others, once all are known; must be quick */
    PolicyStore(Runnable changed) {
        this.changed = changed;
    }

    /** What follows the policies from now on; whoever did so before is not heard any more. */
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
        // Our own writes of conditions come back here too.
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
            policy = MonitorPolicy.of(PlainTree.of(resource));
        } catch (IllegalArgumentException e) {
            Trouble trouble = new Trouble("Invalid", String.valueOf(e.getMessage()));
            return new Entry(generation, Optional.empty(), Optional.empty(), Optional.of(trouble), resource);
        }
        if (!policy.enabled()) {
            Trouble trouble = new Trouble("Disabled", "spec.enabled is false: nothing is watched or told");
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
                    e.getMessage() + "; what it has told before stays until it is mended or deleted");
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

    /** Nothing is known any more. */
    synchronized void clear() {
        term++;
        complete = false;
        entries.clear();
    }

    /** Whether all policies are known. */
    synchronized boolean isComplete() {
        return complete;
    }

    synchronized Optional<Entry> entry(String name) {
        return Optional.ofNullable(entries.get(name));
    }

    /** In order of their names. */
    synchronized Map<String, Entry> entries() {
        return new LinkedHashMap<>(entries);
    }

    /** What is told of objects that this policy matches; empty where nobody can tell. */
    Optional<MonitorPolicy> template(String name) {
        return entry(name).filter(entry -> entry.run().isPresent()).flatMap(Entry::readable);
    }

    /** Which are asked, by what they are about. */
    Map<ResourceType, List<PolicyStats>> runs() {
        Map<ResourceType, List<PolicyStats>> runs = new LinkedHashMap<>();
        entries().values().stream().flatMap(entry -> entry.run().stream()).forEach(run -> {
            ResourceType type = run.source().resource();
            runs.merge(
                    type,
                    List.of(run),
                    (some, one) -> java.util.stream.Stream.concat(some.stream(), one.stream())
                            .toList());
        });
        return runs;
    }
}
