package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.aggregator.remediation.NodePipeline.Resources;
import dev.gpuwarden.api.kube.ForeignJanitor;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** All maintenance resources of the cluster and those of users' templates, from one watch of each kind. Thread-safe. */
final class MaintenanceResources implements MaintenanceView, AutoCloseable {

    /** More than the creates that can be under way. */
    private static final int MOST_ENDED = 1_024;

    private final Map<String, MaintenanceResource> all = new TreeMap<>();
    private final Map<String, Map<String, MaintenanceResource>> byNode = new HashMap<>();
    private final Map<String, MaintenanceRecord> records = new HashMap<>();
    /** The UID of each object that a watch has delivered. */
    private final Map<String, String> watched = new HashMap<>();
    /** The UIDs of the objects whose end a watch has delivered last. */
    private final Map<String, String> ended = new BoundedMap<>(MOST_ENDED, false);

    private final List<Consumer<String>> followers = new CopyOnWriteArrayList<>();
    private final Set<RepairKind> unlisted = new HashSet<>();
    /** The reader of each kind; empty for objects of other purposes. */
    private final Map<RepairKind, Function<Map<String, Object>, Optional<MaintenanceResource>>> readers =
            new LinkedHashMap<>();

    private final Consumer<String> changed;
    private final Runnable listed;
    private final List<ResourceInformer> informers;

    /**
     * Follows the resources from now on.
     *
     * @param templates users' templates whose resources may exist
     * @param janitor returns the listener of the janitor for each kind, so that both share one watch; empty without a janitor
     * @param changed receives the node of each resource that changes
     * @param listed called when all kinds were listed for the first time
     */
    MaintenanceResources(
            KubeClient api,
            List<RepairTemplate> templates,
            Optional<Function<MaintenanceKind, ResourceInformer.Listener>> janitor,
            Consumer<String> changed,
            Runnable listed) {
        this.changed = changed;
        this.listed = listed;
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            readers.put(kind, tree -> Optional.of(MaintenanceResource.of(kind, tree)));
        }
        templates.forEach(template -> readers.put(template.kind(), template::read));
        unlisted.addAll(readers.keySet());
        this.informers = readers.keySet().stream()
                .map(kind -> api.informer(
                        kind.resources(),
                        kind instanceof MaintenanceKind maintenance && janitor.isPresent()
                                ? new Both(new Listener(kind), janitor.get().apply(maintenance))
                                : new Listener(kind)))
                .toList();
    }

    private final class Listener implements ResourceInformer.Listener {
        private final RepairKind kind;

        Listener(RepairKind kind) {
            this.kind = kind;
        }

        @Override
        public void onUpsert(String name, Map<String, Object> tree) {
            delivered(kind, tree);
        }

        @Override
        public void onDelete(String name) {
            deleted(kind, name);
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

    /** Two readers of the objects of one watch, which change no object. */
    private record Both(ResourceInformer.Listener one, ResourceInformer.Listener other)
            implements ResourceInformer.Listener {

        @Override
        public void onUpsert(String name, Map<String, Object> tree) {
            one.onUpsert(name, tree);
            Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
            if (!other.has(name, JsonTrees.text(metadata, "uid"), JsonTrees.text(metadata, "resourceVersion"))) {
                other.onUpsert(name, tree);
            }
        }

        @Override
        public void onDelete(String name) {
            one.onDelete(name);
            other.onDelete(name);
        }

        @Override
        public void onSynced() {
            one.onSynced();
            other.onSynced();
        }
    }

    private static String key(RepairKind kind, String name) {
        return kind + "/" + name;
    }

    private synchronized @Nullable MaintenanceResource removed(String key) {
        MaintenanceResource gone = all.remove(key);
        records.remove(key);
        if (gone != null) {
            byNode.computeIfPresent(gone.node(), (node, of) -> {
                of.remove(key);
                return of.isEmpty() ? null : of;
            });
        }
        return gone;
    }

    /** Stores a resource that a watch has delivered. */
    void delivered(RepairKind kind, Map<String, Object> tree) {
        put(kind, tree, true);
    }

    /**
     * Stores the answer to a create. It can be late: if the watch has delivered the object, or its end, that is newer, and no
     * other delivery may follow.
     */
    void answered(RepairKind kind, Map<String, Object> tree) {
        put(kind, tree, false);
    }

    /** Removes a resource whose end a watch has delivered. */
    void deleted(RepairKind kind, String name) {
        String key = key(kind, name);
        MaintenanceResource gone;
        synchronized (this) {
            gone = removed(key);
            String uid = watched.remove(key);
            if (uid != null) {
                ended.put(uid, key);
            }
        }
        if (gone != null) {
            changed(gone.node());
        }
    }

    private void put(RepairKind kind, Map<String, Object> tree, boolean fromWatch) {
        String uid = JsonTrees.text(JsonTrees.object(tree, "metadata"), "uid");
        Objects.requireNonNull(readers.get(kind))
                .apply(tree)
                .filter(read -> isNews(key(kind, read.name()), uid, fromWatch))
                .ifPresent(read -> put(read, kind, tree));
    }

    private synchronized boolean isNews(String key, String uid, boolean fromWatch) {
        if (fromWatch) {
            watched.put(key, uid);
            return true;
        }
        return !uid.equals(watched.get(key)) && !ended.containsKey(uid);
    }

    private void put(MaintenanceResource resource, RepairKind kind, Map<String, Object> tree) {
        String key = key(resource.kind(), resource.name());
        MaintenanceResource before;
        synchronized (this) {
            before = removed(key);
            all.put(key, resource);
            if (kind instanceof MaintenanceKind maintenance) {
                records.put(key, MaintenanceRecord.of(maintenance, tree));
            }
            byNode.computeIfAbsent(resource.node(), any -> new TreeMap<>()).put(key, resource);
        }
        if (before != null && !before.node().equals(resource.node())) {
            changed(before.node());
        }
        changed(resource.node());
    }

    private void changed(String node) {
        changed.accept(node);
        followers.forEach(follower -> follower.accept(node));
    }

    @Override
    public void listen(Consumer<String> reader) {
        followers.add(reader);
    }

    @Override
    public synchronized Resources of(CachedNode node) {
        return new Resources(
                byNode.getOrDefault(node.name(), Map.of()).keySet().stream()
                        .map(records::get)
                        .filter(each -> each != null && each.isFor(node.name(), node.uid()))
                        .toList(),
                unknown().orElse(""));
    }

    @Override
    public synchronized Optional<String> inProgress(CachedNode node) {
        return of(node.name(), node.uid()).stream()
                .filter(MaintenanceResource::inProgress)
                .map(each -> each.kind().resources().kind() + " " + each.name() + " is in progress")
                .findFirst();
    }

    /** Returns the reason why the resources are unknown; empty if all kinds were listed. */
    synchronized Optional<String> unknown() {
        return unlisted.isEmpty()
                ? Optional.empty()
                : Optional.of("the resources "
                        + unlisted.stream()
                                .map(kind -> kind.resources().plural() + "."
                                        + kind.resources().group())
                                .sorted()
                                .toList()
                        + " were not listed yet: apply their definitions, and permit list and watch"
                        + informers.stream()
                                .map(ResourceInformer::trouble)
                                .filter(text -> !text.isEmpty())
                                .findFirst()
                                .map(text -> ": " + text)
                                .orElse(""));
    }

    /** Returns the resources of a Node. */
    synchronized List<MaintenanceResource> of(String node, String uid) {
        return byNode.getOrDefault(node, Map.of()).values().stream()
                .filter(each -> each.isFor(node, uid))
                .toList();
    }

    /** Returns the resource that another janitor works on; empty if there is none. */
    static Optional<MaintenanceResource> foreign(List<MaintenanceResource> ofNode) {
        return ofNode.stream()
                .filter(each -> each.finalizers().contains(ForeignJanitor.FINALIZER))
                .findFirst();
    }

    @Override
    public void close() {
        informers.forEach(ResourceInformer::close);
    }
}
