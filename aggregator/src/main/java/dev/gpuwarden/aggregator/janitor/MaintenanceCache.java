package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceVersions;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The cache of all maintenance resources, in the last state that the API server returned. Thread-safe. */
public final class MaintenanceCache {

    private final Map<String, Maintenance> all = new ConcurrentHashMap<>();
    private final Map<String, Set<String>> byNode = new ConcurrentHashMap<>();
    private final Set<String> deleted = ConcurrentHashMap.newKeySet();
    /** The versions of each resource that answers have brought, and the watch has not. */
    private final Map<String, Set<String>> own = new ConcurrentHashMap<>();

    private final Consumer<String> changed;

    /** @param changed receives the node of each resource that changes; must not block */
    public MaintenanceCache(Consumer<String> changed) {
        this.changed = changed;
    }

    private static String key(MaintenanceKind kind, String name) {
        return kind + "/" + name;
    }

    private static String key(Maintenance resource) {
        return key(resource.kind(), resource.name());
    }

    /** Stores an answer. The watch may have delivered a newer version since. */
    void keep(Maintenance resource) {
        store(resource, false);
    }

    private void store(Maintenance resource, boolean delivered) {
        all.merge(key(resource), resource, (before, now) -> delivered || !isOlder(now, before) ? now : before);
        byNode.computeIfAbsent(resource.node(), any -> ConcurrentHashMap.newKeySet())
                .add(key(resource));
    }

    private static boolean isOlder(Maintenance one, Maintenance other) {
        return one.uid().equals(other.uid())
                && ResourceVersions.number(one.version()) < ResourceVersions.number(other.version());
    }

    /** Stores the answer to a write of the caller, who needs no call when the watch delivers it. */
    void answered(Maintenance resource) {
        own.computeIfAbsent(key(resource), any -> ConcurrentHashMap.newKeySet()).add(resource.version());
        keep(resource);
    }

    /** Returns true, once, for a version that was stored as an answer. Another writer's version ends the wait for those. */
    private boolean isOwn(String key, String version) {
        Set<String> versions = own.get(key);
        if (versions != null && versions.remove(version)) {
            if (versions.isEmpty()) {
                own.remove(key);
            }
            return true;
        }
        own.remove(key);
        return false;
    }

    void forget(Maintenance resource) {
        remove(key(resource));
    }

    private @Nullable Maintenance remove(String key) {
        own.remove(key);
        Maintenance gone = all.remove(key);
        if (gone != null) {
            byNode.computeIfPresent(gone.node(), (node, keys) -> {
                keys.remove(key);
                return keys.isEmpty() ? null : keys;
            });
            if (gone.isBusy()) {
                deleted.add(gone.node());
            }
        }
        return gone;
    }

    /** Returns true once after a resource of the node was deleted before its end. */
    boolean takeDeleted(String node) {
        return deleted.remove(node);
    }

    /** Returns the resources of a node in the order of their creation. */
    List<Maintenance> ofNode(String node) {
        return byNode.getOrDefault(node, Set.of()).stream()
                .map(all::get)
                .filter(each -> each != null)
                .sorted(Maintenance.ORDER)
                .toList();
    }

    /** Returns true if the node has a resource that has not ended. */
    public boolean busy(String node) {
        return ofNode(node).stream().anyMatch(Maintenance::isBusy);
    }

    /** Returns the nodes that have resources. */
    public Set<String> nodes() {
        return Set.copyOf(byNode.keySet());
    }

    /** Returns the age of the oldest action that has not ended, in seconds; 0 if there is none. */
    public long oldestLockSeconds(Instant now) {
        return all.values().stream()
                .filter(Maintenance::inProgress)
                .flatMap(each -> each.progress().started().stream())
                .mapToLong(start -> Math.max(0, Duration.between(start, now).toSeconds()))
                .max()
                .orElse(0);
    }

    /** Returns the number of resources whose services did not return. */
    public long servicesNotRestored() {
        return all.values().stream()
                .filter(each -> !each.inProgress())
                .flatMap(each -> each.progress().condition("ServicesRestored").stream())
                .filter(each -> !each.isTrue())
                .count();
    }

    /** Returns the number of resources that have not ended, by kind. */
    public Map<String, Long> inProgress() {
        return all.values().stream()
                .filter(Maintenance::inProgress)
                .collect(Collectors.groupingBy(each -> each.kind().resources().kind(), Collectors.counting()));
    }

    /**
     * Returns the listener for the informer of a kind.
     *
     * @param synced called after each list
     */
    public ResourceInformer.Listener of(MaintenanceKind kind, Runnable synced) {
        return new ResourceInformer.Listener() {
            @Override
            public boolean has(String name, String uid, String version) {
                return isOwn(key(kind, name), version);
            }

            @Override
            public void onUpsert(String name, Map<String, Object> tree) {
                Maintenance now = Maintenance.of(kind, tree);
                store(now, true);
                changed.accept(now.node());
            }

            @Override
            public void onDelete(String name) {
                Maintenance gone = remove(key(kind, name));
                if (gone != null) {
                    changed.accept(gone.node());
                }
            }

            @Override
            public void onSynced() {
                synced.run();
            }
        };
    }
}
