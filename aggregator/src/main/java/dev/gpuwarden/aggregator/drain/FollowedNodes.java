package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The nodes whose pods are watched, each with the state of its drain. Thread-safe; one thread changes a node. */
final class FollowedNodes {

    private static final ResourceKind PODS = ResourceKind.ofCluster("", "v1", "pods", "Pod");

    /** The largest number of watched nodes whose drain has succeeded. Each watch is a connection. */
    private static final int MOST_OVER = 256;

    private record Followed(String uid, DrainState drain, ResourceInformer watch) {}

    private final KubeClient api;
    private final Consumer<String> again;
    private final Duration retry;
    private final Map<String, Followed> followed = new ConcurrentHashMap<>();

    /**
     * Creates an empty set.
     *
     * @param again adds a node whose pods have changed to the work queue
     * @param retry pause after the first refusal of a pod
     */
    FollowedNodes(KubeClient api, Consumer<String> again, Duration retry) {
        this.api = api;
        this.again = again;
        this.retry = retry;
    }

    boolean has(String node) {
        return followed.containsKey(node);
    }

    Optional<DrainState> find(String node) {
        return Optional.ofNullable(followed.get(node)).map(Followed::drain);
    }

    List<String> names() {
        return List.copyOf(followed.keySet());
    }

    /** Returns the drains that are under way. */
    Collection<DrainState> underWay() {
        return followed.values().stream()
                .map(Followed::drain)
                .filter(drain -> !drain.isOver())
                .toList();
    }

    /** Returns true if too many drained nodes are watched. */
    boolean tooManyOver() {
        return followed.size() - underWay().size() > MOST_OVER;
    }

    /**
     * Returns the state of a node's drain, and starts the watch of its pods, which completes them later. A Node of the same
     * name with another UID starts again.
     */
    DrainState follow(CachedNode node) {
        Followed there = followed.get(node.name());
        if (there != null && there.uid().equals(node.uid())) {
            return there.drain();
        }
        forget(node.name());
        DrainState drain = new DrainState(() -> again.accept(node.name()), retry);
        ResourceInformer watch = api.informer(PODS, Map.of("spec.nodeName", node.name()), drain, () -> {});
        followed.put(node.name(), new Followed(node.uid(), drain, watch));
        return drain;
    }

    void forget(String node) {
        Followed there = followed.remove(node);
        if (there != null) {
            there.drain().close();
            there.watch().close();
        }
    }
}
