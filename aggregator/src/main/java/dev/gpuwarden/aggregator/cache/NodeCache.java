package dev.gpuwarden.aggregator.cache;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.client.ResourceVersions;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The cache of all Nodes and their NodeHealths, in the last state that the API server returned. Objects are packed: their trees
 * would take nine times the memory, and few are read. Thread-safe.
 */
public final class NodeCache implements NodeHealthCache {

    public static final ResourceKind NODES = ResourceKind.ofCluster("", "v1", "nodes", "Node");

    /**
     * The number of Nodes that stay unpacked. A Node that was just read is read again, by the same thread and on the next
     * change.
     */
    private static final int READ = 128;

    /** A receiver of changes. The cache applies no other change during a call, so it must return fast. */
    public interface Listener {
        /**
         * @param node the Node; empty if it was deleted
         * @param ours true if this program wrote the change
         */
        default void node(String name, Optional<CachedNode> node, boolean ours) {}

        /** @param health the NodeHealth without large fields; empty if it was deleted */
        default void health(String name, Optional<Map<String, Object>> health) {}
    }

    /** @param delivered the last version that the watch delivered; 0 if unknown */
    private record Kept(String uid, long version, long delivered, Json.Compressed json) {

        /**
         * Returns true if the API server's store went back, as after a restore. A watch delivers an older version in no other
         * case.
         */
        boolean goesBack(String otherUid, long otherVersion) {
            return uid.equals(otherUid) && otherVersion > 0 && otherVersion < delivered;
        }

        Kept delivered(String otherUid, long otherVersion) {
            return uid.equals(otherUid) && otherVersion > delivered ? new Kept(uid, version, otherVersion, json) : this;
        }

        /** Returns true if the other version is of the same object and not newer. */
        boolean covers(String otherUid, long otherVersion) {
            return uid.equals(otherUid) && version >= otherVersion && otherVersion > 0;
        }

        boolean is(String otherUid, long otherVersion) {
            return uid.equals(otherUid) && version == otherVersion;
        }
    }

    private record KeptHealth(Kept kept, Instant received, boolean answered) {}

    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private final Clock clock;
    private final Map<String, Kept> nodes = new ConcurrentHashMap<>();
    private final Map<String, CachedNode> read = Collections.synchronizedMap(new BoundedMap<>(READ, true));
    private final Map<String, KeptHealth> healths = new ConcurrentHashMap<>();

    public NodeCache(Listener listener, Clock clock) {
        listeners.add(listener);
        this.clock = clock;
    }

    /** Creates a cache without a listener. */
    public NodeCache(Clock clock) {
        this.clock = clock;
    }

    public Optional<CachedNode> node(String name) {
        CachedNode just = read.get(name);
        if (just != null) {
            return Optional.of(just);
        }
        return Optional.ofNullable(nodes.get(name))
                .map(kept -> CachedNode.of(kept.json().tree()));
    }

    /** Returns the names of all Nodes. */
    public Set<String> names() {
        return Set.copyOf(nodes.keySet());
    }

    /** Returns the number of Nodes. */
    public int size() {
        return nodes.size();
    }

    /** Adds a listener for all changes from now on. */
    public void listen(Listener listener) {
        listeners.add(listener);
    }

    @Override
    public void follow(BiConsumer<String, Map<String, Object>> receiver) {
        listen(new Listener() {

            @Override
            public void health(String name, Optional<Map<String, Object>> health) {
                health.ifPresent(tree -> receiver.accept(name, tree));
            }
        });
    }

    @Override
    public Optional<String> nodeUid(String node) {
        return Optional.ofNullable(nodes.get(node)).map(Kept::uid);
    }

    @Override
    public Optional<Map<String, Object>> health(String node) {
        return healthRead(node).map(CachedNodeHealth::tree);
    }

    @Override
    public Optional<String> healthVersion(String node) {
        return Optional.ofNullable(healths.get(node))
                .map(there -> Long.toString(there.kept().version()));
    }

    /** Returns the names of all nodes that have a NodeHealth. */
    public List<String> healthNames() {
        return List.copyOf(healths.keySet());
    }

    /** Returns a NodeHealth with the time and the way of its receipt; empty if there is none. */
    public Optional<CachedNodeHealth> healthRead(String name) {
        return Optional.ofNullable(healths.get(name))
                .map(there -> new CachedNodeHealth(there.kept().json().tree(), there.received(), there.answered()));
    }

    @Override
    public void answered(Map<String, Object> health) {
        keepHealth(health, true);
    }

    /** Returns true if the version of the Node is not new. */
    private boolean noted(String name, String uid, long version, boolean answered) {
        boolean known = isKnown(nodes.get(name), uid, version, answered);
        if (known && !answered) {
            nodes.computeIfPresent(name, (any, before) -> before.delivered(uid, version));
        }
        return known;
    }

    private void keepHealth(Map<String, Object> tree, boolean answered) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        String name = JsonTrees.text(metadata, "name");
        String uid = JsonTrees.text(metadata, "uid");
        long version = ResourceVersions.number(JsonTrees.text(metadata, "resourceVersion"));
        if (notedHealth(name, uid, version, answered)) {
            return;
        }
        Map<String, Object> lean = Trim.other(tree);
        Json.Compressed packed = Json.Compressed.of(lean);
        synchronized (this) {
            if (!notedHealth(name, uid, version, answered)) {
                KeptHealth before = healths.get(name);
                Kept kept = kept(before == null ? null : before.kept(), uid, version, answered, packed);
                healths.put(name, new KeptHealth(kept, clock.instant(), answered));
                listeners.forEach(listener -> listener.health(name, Optional.of(lean)));
            }
        }
    }

    /**
     * Returns true if the version is not new. An answer with the same version still updates the time and the way of its
     * receipt.
     */
    private synchronized boolean notedHealth(String name, String uid, long version, boolean answered) {
        @Nullable KeptHealth before = healths.get(name);
        boolean known = isKnown(before == null ? null : before.kept(), uid, version, answered);
        if (known && !answered && before != null) {
            healths.put(
                    name, new KeptHealth(before.kept().delivered(uid, version), before.received(), before.answered()));
        }
        // The watch may have delivered the same version first.
        if (answered && before != null && before.kept().is(uid, version)) {
            healths.put(name, new KeptHealth(before.kept(), clock.instant(), true));
        }
        return known;
    }

    /** Returns true if the version is not new. A late answer never restores a deleted object or an older version. */
    private static boolean isKnown(@Nullable Kept before, String uid, long version, boolean answered) {
        boolean late = answered && (before == null || !before.uid().equals(uid));
        boolean back = !answered && before != null && before.goesBack(uid, version);
        return late || !back && before != null && before.covers(uid, version);
    }

    private static Kept kept(
            @Nullable Kept before, String uid, long version, boolean answered, Json.Compressed packed) {
        long deliveredBefore = before != null && before.uid().equals(uid) ? before.delivered() : 0;
        return new Kept(uid, version, answered ? deliveredBefore : version, packed);
    }

    /**
     * Stores the API server's answer to a write of a Node, before the watch delivers it. The write must have required the
     * version in this cache, or the caller must read the Node again. Otherwise another writer's change would be missed.
     */
    public CachedNode wrote(Map<String, Object> tree) {
        CachedNode node = CachedNode.of(Trim.node(tree));
        keep(node, true);
        return node;
    }

    private void keep(CachedNode node, boolean answered) {
        long version = ResourceVersions.number(node.resourceVersion());
        if (noted(node.name(), node.uid(), version, answered)) {
            return;
        }
        Json.Compressed packed = Json.Compressed.of(node.tree());
        synchronized (this) {
            Kept before = nodes.get(node.name());
            if (!isKnown(before, node.uid(), version, answered)) {
                nodes.put(node.name(), kept(before, node.uid(), version, answered, packed));
                read.put(node.name(), node);
                listeners.forEach(listener -> listener.node(node.name(), Optional.of(node), answered));
            }
        }
    }

    private synchronized void gone(String name) {
        if (nodes.remove(name) != null) {
            read.remove(name);
            listeners.forEach(listener -> listener.node(name, Optional.empty(), false));
        }
    }

    private synchronized void healthGone(String name) {
        if (healths.remove(name) != null) {
            listeners.forEach(listener -> listener.health(name, Optional.empty()));
        }
    }

    /** Returns the listener for the informer of Nodes. */
    public ResourceInformer.Listener nodes() {
        return new ResourceInformer.Listener() {
            @Override
            public boolean has(String name, String uid, String version) {
                return noted(name, uid, ResourceVersions.number(version), false);
            }

            @Override
            public void onUpsert(String name, Map<String, Object> tree) {
                keep(CachedNode.of(Trim.node(tree)), false);
            }

            @Override
            public void onDelete(String name) {
                NodeCache.this.gone(name);
            }
        };
    }

    /** Returns the listener for the informer of NodeHealths. */
    public ResourceInformer.Listener healths() {
        return new ResourceInformer.Listener() {
            @Override
            public boolean has(String name, String uid, String version) {
                return notedHealth(name, uid, ResourceVersions.number(version), false);
            }

            @Override
            public void onUpsert(String name, Map<String, Object> tree) {
                keepHealth(tree, false);
            }

            @Override
            public void onDelete(String name) {
                healthGone(name);
            }
        };
    }

    /** The removal of large fields that no part of this program reads. */
    public static final class Trim {

        /** The start of the names of the field managers whose fields are kept: those of this program. */
        private static final String MANAGER = "gpuwarden";

        private static final Set<String> OF_STATUS = Set.of("images", "volumesInUse", "volumesAttached");

        private Trim() {}

        public static Map<String, Object> node(Map<String, Object> tree) {
            Map<String, Object> node = JsonTrees.copy(tree);
            Map<String, Object> status = JsonTrees.copy(JsonTrees.object(tree, "status"));
            status.keySet().removeAll(OF_STATUS);
            Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(tree, "metadata"));
            List<Map<String, Object>> ours = JsonTrees.objects(metadata, "managedFields").stream()
                    .filter(fields -> JsonTrees.text(fields, "manager").startsWith(MANAGER))
                    .toList();
            metadata.put("managedFields", ours);
            node.put("metadata", metadata);
            node.put("status", status);
            return node;
        }

        public static Map<String, Object> other(Map<String, Object> tree) {
            Map<String, Object> other = JsonTrees.copy(tree);
            Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(tree, "metadata"));
            metadata.remove("managedFields");
            other.put("metadata", metadata);
            return other;
        }
    }

    /**
     * A NodeHealth as the API server returned it.
     *
     * @param received the time of its receipt
     * @param answered true if it was the answer to a request, and so the newest version then; false if a watch delivered
     *     it, which may be behind after an outage
     */
    public record CachedNodeHealth(Map<String, Object> tree, Instant received, boolean answered) {}
}
