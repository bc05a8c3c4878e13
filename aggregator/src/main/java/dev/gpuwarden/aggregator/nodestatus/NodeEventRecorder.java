package dev.gpuwarden.aggregator.nodestatus;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.api.kube.EventObject;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Makes Events of Kubernetes, each once: a name that is there already was told by whoever was here before. Thread-safe. */
public final class NodeEventRecorder {

    private static final String COMPONENT = "gpuwarden-aggregator";
    private static final String EVENTS = "/api/v1/namespaces/default/events";

    private final KubeClient api;
    /** By node, those that are still news. */
    private final Map<String, Set<String>> told = new ConcurrentHashMap<>();

    public NodeEventRecorder(KubeClient api) {
        this.api = api;
    }

    /** Blocks until the API server has them. One that it refuses is not tried again. */
    public void tell(String node, List<EventObject> news) throws ApiException, InterruptedException {
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

    private void create(String node, EventObject event) throws ApiException, InterruptedException {
        try {
            var unused = api.create(EVENTS, event.body(node, COMPONENT));
        } catch (ApiException e) {
            if (!e.alreadyThere() && !e.invalid()) {
                throw e;
            }
        }
    }
}
