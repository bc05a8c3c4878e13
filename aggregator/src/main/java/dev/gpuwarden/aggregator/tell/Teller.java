package dev.gpuwarden.aggregator.tell;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.api.kube.EventObject;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Makes Events of Kubernetes, each once: a name that is there already was told by whoever was here before. Thread-safe. */
public final class Teller {

    private static final String COMPONENT = "gpuwarden-aggregator";
    private static final String EVENTS = "/api/v1/namespaces/default/events";

    private final ClusterApi api;
    /** By node, those that are still news. */
    private final Map<String, Set<String>> told = new ConcurrentHashMap<>();

    public Teller(ClusterApi api) {
        this.api = api;
    }

    /** Blocks until the API server has them. One that it refuses is not tried again. */
    public void tell(String node, List<EventObject> news) throws ClusterException, InterruptedException {
        if (news.isEmpty()) {
            forget(node);
            return;
        }
        Set<String> before = told.getOrDefault(node, Set.of());
        Set<String> now = new HashSet<>();
        for (EventObject event : news) {
            if (!before.contains(event.name())) {
                create(node, event);
            }
            now.add(event.name());
        }
        told.put(node, now);
    }

    /** There is no such Node any more, or nothing to say of it. */
    public void forget(String node) {
        told.remove(node);
    }

    private void create(String node, EventObject event) throws ClusterException, InterruptedException {
        try {
            var unused = api.create(EVENTS, event.body(node, COMPONENT));
        } catch (ClusterException e) {
            if (!e.alreadyThere() && !e.invalid()) {
                throw e;
            }
        }
    }
}
