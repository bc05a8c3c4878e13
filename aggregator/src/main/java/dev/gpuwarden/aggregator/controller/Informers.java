package dev.gpuwarden.aggregator.controller;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.client.ToldAll;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** All that is followed of the cluster, and what of it has not been told completely yet. Thread-safe. */
public final class Informers implements AutoCloseable {

    private final KubeClient api;
    private final Runnable complete;
    private final List<ResourceInformer> mirrors = new ArrayList<>();
    private final Set<String> waiting = new TreeSet<>();

    /** @param complete told each time when something has been told completely for the first time */
    public Informers(KubeClient api, Runnable complete) {
        this.api = api;
        this.complete = complete;
    }

    public ResourceInformer follow(ResourceKind kind, ResourceInformer.Listener listener) {
        synchronized (this) {
            waiting.add(kind.plural());
        }
        ResourceInformer mirror = api.mirror(kind, new ToldAll(listener, () -> {
            if (told(kind)) {
                complete.run();
            }
        }));
        mirrors.add(mirror);
        return mirror;
    }

    private synchronized boolean told(ResourceKind kind) {
        return waiting.remove(kind.plural());
    }

    /** By its plural. */
    public synchronized Set<String> waitingFor() {
        return new TreeSet<>(waiting);
    }

    @Override
    public void close() {
        mirrors.forEach(ResourceInformer::close);
    }
}
