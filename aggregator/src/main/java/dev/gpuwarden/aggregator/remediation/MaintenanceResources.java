package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** All maintenance resources of the cluster, from one watch of each kind. Thread-safe. */
final class MaintenanceResources implements AutoCloseable {

    /** The finalizer of NVSentinel's janitor. */
    static final String FOREIGN_FINALIZER = "janitor.dgxc.nvidia.com/finalizer";

    private final Map<String, MaintenanceResource> all = new TreeMap<>();
    private final Map<String, Map<String, MaintenanceResource>> byNode = new HashMap<>();
    private final Map<String, MaintenanceResource> foreign = new HashMap<>();
    private final Set<MaintenanceKind> unlisted = EnumSet.allOf(MaintenanceKind.class);
    private final Consumer<String> changed;
    private final Runnable listed;
    private final List<ResourceInformer> informers;

    /**
     * Follows the resources from now on.
     *
     * @param changed receives the node of each resource that changes
     * @param listed called when all kinds were listed for the first time
     */
    MaintenanceResources(KubeClient api, Consumer<String> changed, Runnable listed) {
        this.changed = changed;
        this.listed = listed;
        this.informers = List.of(MaintenanceKind.values()).stream()
                .map(kind -> api.informer(kind.resources(), new Listener(kind)))
                .toList();
    }

    private final class Listener implements ResourceInformer.Listener {
        private final MaintenanceKind kind;

        Listener(MaintenanceKind kind) {
            this.kind = kind;
        }

        @Override
        public void onUpsert(String name, Map<String, Object> tree) {
            put(kind, tree);
        }

        @Override
        public void onDelete(String name) {
            MaintenanceResource gone = removed(key(kind, name));
            if (gone != null) {
                changed.accept(gone.node());
            }
        }

        @Override
        public void onSynced() {
            boolean last;
            synchronized (MaintenanceResources.this) {
                last = unlisted.remove(kind) && unlisted.isEmpty();
            }
            if (last) {
                listed.run();
            }
        }
    }

    private static String key(MaintenanceKind kind, String name) {
        return kind.name() + "/" + name;
    }

    private synchronized @Nullable MaintenanceResource removed(String key) {
        MaintenanceResource gone = all.remove(key);
        foreign.remove(key);
        if (gone != null) {
            byNode.computeIfPresent(gone.node(), (node, of) -> {
                of.remove(key);
                return of.isEmpty() ? null : of;
            });
        }
        return gone;
    }

    /** Stores a resource, from the watch or from an answer. */
    void put(MaintenanceKind kind, Map<String, Object> tree) {
        MaintenanceResource resource = MaintenanceResource.of(kind, tree);
        String key = key(kind, resource.name());
        synchronized (this) {
            var unused = removed(key);
            all.put(key, resource);
            byNode.computeIfAbsent(resource.node(), any -> new TreeMap<>()).put(key, resource);
            if (resource.finalizers().contains(FOREIGN_FINALIZER)) {
                foreign.put(key, resource);
            }
        }
        changed.accept(resource.node());
    }

    /** Returns the reason why the resources are unknown; empty if all kinds were listed. */
    synchronized Optional<String> unknown() {
        return unlisted.isEmpty()
                ? Optional.empty()
                : Optional.of("the resources "
                        + unlisted.stream()
                                .map(kind -> kind.resources().plural() + "." + MaintenanceKind.GROUP)
                                .sorted()
                                .toList()
                        + " were not listed yet: apply their definitions");
    }

    /** Returns the resources of a Node. */
    synchronized List<MaintenanceResource> of(String node, String uid) {
        return byNode.getOrDefault(node, Map.of()).values().stream()
                .filter(each -> each.isFor(node, uid))
                .toList();
    }

    /** Returns the resource that another janitor works on; empty if there is none. */
    synchronized Optional<MaintenanceResource> foreign() {
        return foreign.values().stream().findFirst();
    }

    @Override
    public void close() {
        informers.forEach(ResourceInformer::close);
    }
}
