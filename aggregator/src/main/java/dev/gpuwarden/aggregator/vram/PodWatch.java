package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.vram.BudgetReader;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The pods of one node that have a budget, followed by a watch of their own. Thread-safe. */
final class PodWatch implements ResourceInformer.Listener, AutoCloseable {

    private static final ResourceKind PODS = ResourceKind.ofCluster("", "v1", "pods", "Pod");

    /** More than a list has, so that the node learns how many found no room in it. */
    private static final int MOST_KEPT = 2 * VramCodec.MOST_PODS;

    private final String resource;
    private final Runnable changed;
    private final Map<String, BudgetedPod> pods = new TreeMap<>();
    private final ResourceInformer informer;
    private boolean synced;

    /** @param changed called after each change of a budget; must not block */
    PodWatch(KubeClient api, String node, String resource, Runnable changed) {
        this.resource = resource;
        this.changed = changed;
        this.informer = api.informer(PODS, Map.of("spec.nodeName", node), this, () -> {});
    }

    /** Returns the budgets in the order of the pods' names; empty before the first list has arrived. */
    synchronized Optional<List<BudgetedPod>> pods() {
        return synced ? Optional.of(List.copyOf(pods.values())) : Optional.empty();
    }

    @Override
    public void onUpsert(String name, Map<String, Object> tree) {
        Optional<BudgetedPod> now = BudgetReader.of(tree, resource);
        if (now.isEmpty()) {
            onDelete(name);
            return;
        }
        synchronized (this) {
            if (pods.size() >= MOST_KEPT && !pods.containsKey(name) || now.get().equals(pods.put(name, now.get()))) {
                return;
            }
        }
        changed.run();
    }

    @Override
    public void onDelete(String name) {
        synchronized (this) {
            if (pods.remove(name) == null) {
                return;
            }
        }
        changed.run();
    }

    @Override
    public void onSynced() {
        synchronized (this) {
            synced = true;
        }
        changed.run();
    }

    @Override
    public void close() {
        informer.close();
    }
}
