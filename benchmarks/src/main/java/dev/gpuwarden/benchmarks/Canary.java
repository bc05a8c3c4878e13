package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A pod that fails and recovers in turn. Each change must reach the NodeHealth of its node. */
final class Canary implements ResourceInformer.Listener {

    private final KubeClient api;
    private final String node;
    private final Sightings changes = new Sightings("a policy's pod changes, to the NodeHealth");
    private final AtomicInteger unanswered = new AtomicInteger();
    private long turn;
    private boolean written;

    Canary(KubeClient api, String node) {
        this.api = api;
        this.node = node;
    }

    Sightings changes() {
        return changes;
    }

    /** Returns the number of changes that the API server refused, which are then tried again. */
    int unanswered() {
        return unanswered.get();
    }

    /** Changes the pod, unless the change before has not been seen yet. The first change makes it fail. */
    void change() throws InterruptedException {
        long now;
        synchronized (this) {
            if (changes.isOpen(turn) && written) {
                return;
            }
            if (!changes.isOpen(turn)) {
                changes.happened(++turn);
            }
            written = true;
            now = turn;
        }
        try {
            var unused = api.patch(
                    "/api/v1/namespaces/load/pods/" + node + "-0/status",
                    List.of(Map.of("op", "add", "path", "/status/reason", "value", now % 2 == 1 ? "Broken" : "Fine")));
        } catch (ApiException e) {
            unanswered.incrementAndGet();
            synchronized (this) {
                written = false;
            }
        }
    }

    @Override
    public synchronized void onUpsert(String name, Map<String, Object> tree) {
        if (name.equals(node)) {
            boolean broken = JsonTrees.objects(JsonTrees.object(tree, "status"), "monitors").stream()
                    .flatMap(place -> JsonTrees.objects(place, "faults").stream())
                    .anyMatch(fault -> JsonTrees.text(fault, "errorCode").equals("BROKEN"));
            if (broken == (turn % 2 == 1)) {
                changes.seen(turn);
            }
        }
    }

    @Override
    public void onDelete(String name) {}

    @Override
    public void onSynced() {}
}
