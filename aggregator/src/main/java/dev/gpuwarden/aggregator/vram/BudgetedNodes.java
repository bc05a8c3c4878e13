package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** The Nodes of the cluster that have the resource, with or without a stream to this replica. Thread-safe. */
final class BudgetedNodes implements NodeCache.Listener {

    /**
     * A Node with the resource.
     *
     * @param mib amount that the scheduler may give away
     * @param largestCard part that its largest card has; the capacity if no annotation names it
     * @param cordoned true if it takes no new pods
     */
    record Amount(String node, long mib, long largestCard, boolean cordoned, Map<String, String> labels) {}

    private final String resource;
    private final Runnable changed;
    private final Map<String, Amount> nodes = new ConcurrentHashMap<>();

    /** @param changed called after each change of an amount; must not block */
    BudgetedNodes(String resource, Runnable changed) {
        this.resource = resource;
        this.changed = changed;
    }

    /** Follows the Nodes of a cache from now on, with those that it has already. */
    void follow(NodeCache cache) {
        cache.listen(this);
        cache.names().forEach(name -> node(name, cache.node(name), false));
    }

    List<Amount> all() {
        return List.copyOf(nodes.values());
    }

    @Override
    public void node(String name, Optional<CachedNode> node, boolean ours) {
        Optional<Amount> now = node.flatMap(this::amount);
        Amount before = now.isPresent() ? nodes.put(name, now.get()) : nodes.remove(name);
        if (!now.equals(Optional.ofNullable(before))) {
            changed.run();
        }
    }

    private Optional<Amount> amount(CachedNode node) {
        OptionalLong capacity = ExtendedResource.value(node.tree(), "capacity", resource);
        return capacity.isEmpty()
                ? Optional.empty()
                : Optional.of(new Amount(
                        node.name(),
                        ExtendedResource.value(node.tree(), "allocatable", resource)
                                .orElse(0),
                        Math.min(
                                capacity.getAsLong(),
                                CardMark.of(node.annotations()).orElse(capacity.getAsLong())),
                        node.unschedulable(),
                        node.labels()));
    }
}
