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

/** Nodes whose pods are watched, each with what is known of its drain. Thread-safe; one node is changed by one thread. */
final class FollowedNodes {

    private static final ResourceKind PODS = ResourceKind.ofCluster("", "v1", "pods", "Pod");

    /** Those whose drain has succeeded: each watch is a connection. */
    private static final int MOST_OVER = 256;

    private record Followed(String uid, DrainState drain, ResourceInformer watch) {}

    private final KubeClient api;
    private final Consumer<String> again;
    private final Duration retry;
    private final Map<String, Followed> followed = new ConcurrentHashMap<>();

    /**
     * @param again has a node looked at: its pods have changed
     * @param retry after a pod was refused first
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

    /** Those whose drain is under way. */
    Collection<DrainState> underWay() {
        return followed.values().stream()
                .map(Followed::drain)
                .filter(drain -> !drain.isOver())
                .toList();
    }

    /** Whether more are watched than may be whose drain has succeeded. */
    boolean tooManyOver() {
        return followed.size() - underWay().size() > MOST_OVER;
    }

    /** Whose pods it has, complete in a while. Another Node of the same name is another node. */
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
