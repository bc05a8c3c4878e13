package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The lock of a node while a user's template acts on it: the Lease that the janitor takes for a reset or a reboot, also for one
 * made by hand. Its owner is the Node, since the resource does not exist yet when the lock is taken. Each call blocks for the API
 * server.
 */
final class TemplateLock {

    private static final System.Logger LOG = System.getLogger(TemplateLock.class.getName());

    /** @param since time at which the lock was taken, by the API server's clock if its Lease was read */
    private record Locked(String resource, Instant since) {}

    private final KubeClient api;
    private final ResourceKind leases;
    private final Clock clock;
    /** The resource for which each node is locked, as this leader has seen it last. */
    private final Map<String, Locked> locked = new ConcurrentHashMap<>();

    private boolean listed;
    /** The holder for which a resource waits, as the log has it. */
    private final Map<String, String> holders = new ConcurrentHashMap<>();

    TemplateLock(KubeClient api, String namespace, Clock clock) {
        this.api = api;
        this.clock = clock;
        this.leases = MaintenanceKind.locks(namespace);
    }

    /** Returns the Lease of an attempt. */
    static Map<String, Object> lease(ResourceKind leases, CachedNode node, Repair repair) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("name", node.name());
        metadata.put("labels", Map.of(MaintenanceResource.MANAGED_BY, MaintenanceResource.US));
        metadata.put("annotations", Map.of(MaintenanceKind.LOCKED_FOR, repair.resource()));
        metadata.put("ownerReferences", List.of(NodeCache.NODES.reference(node.name(), node.uid())));
        return leases.object(metadata);
    }

    /** Reads all locks once, so that those whose Node has no record of them are released too. */
    synchronized void list() throws ApiException, InterruptedException {
        if (listed) {
            return;
        }
        try {
            KubeClient.Pages.each(
                    api,
                    leases.path(),
                    "labelSelector=" + MaintenanceResource.MANAGED_BY + "=" + MaintenanceResource.US,
                    lease -> {
                        Map<String, Object> metadata = metadata(lease);
                        if (!holder(metadata).isEmpty()) {
                            locked.put(JsonTrees.text(metadata, "name"), locked(metadata));
                        }
                    });
        } catch (ApiException e) {
            if (!e.forbidden()) {
                throw e;
            }
            LOG.log(
                    System.Logger.Level.WARNING,
                    "locks of templates of earlier leaders are not released, because this program may not list Leases in "
                            + leases.namespace().orElse("") + ": " + e.answer()
                            + ". Apply the component remediation-armed again");
        }
        listed = true;
    }

    /** Forgets all locks, as at the end of a term. */
    synchronized void forget() {
        locked.clear();
        holders.clear();
        listed = false;
    }

    /** Takes the lock for an attempt. Returns false if another one has it. */
    boolean take(CachedNode node, Repair repair) throws ApiException, InterruptedException {
        Optional<String> holder = other(node, repair);
        if (holder.isEmpty()) {
            holders.remove(repair.resource());
        } else if (!holder.get().equals(holders.put(repair.resource(), holder.get()))) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "node " + node.name() + ": " + repair.resource() + " waits for the lock of " + holder.get());
        }
        return holder.isEmpty();
    }

    /** Returns the present holder; empty if the attempt has the lock now. */
    private Optional<String> other(CachedNode node, Repair repair) throws ApiException, InterruptedException {
        // Before the request, since its answer can be lost.
        Locked before = locked.get(node.name());
        if (before == null || !before.resource().equals(repair.resource())) {
            locked.put(node.name(), new Locked(repair.resource(), clock.instant()));
        }
        try {
            var unused = api.create(leases.path(), lease(leases, node, repair));
            return Optional.empty();
        } catch (ApiException e) {
            if (!e.alreadyThere()) {
                throw e;
            }
        }
        Map<String, Object> metadata =
                api.find(leases.path(node.name())).map(TemplateLock::metadata).orElse(Map.of());
        if (holder(metadata).equals(repair.resource()) && !metadata.containsKey("deletionTimestamp")) {
            return Optional.empty();
        }
        locked.put(node.name(), locked(metadata));
        return Optional.of(JsonTrees.objects(metadata, "ownerReferences").stream()
                .map(owner -> JsonTrees.text(owner, "kind") + " " + JsonTrees.text(owner, "name"))
                .findFirst()
                .orElse("a Lease without an owner"));
    }

    /**
     * Releases the lock of a template on a node, unless one of these resources has it. No request is made while the last known holder
     * is one of them.
     */
    void releaseUnlessFor(Set<String> resources, String node) throws ApiException, InterruptedException {
        Locked last = locked.get(node);
        if (last == null || resources.contains(last.resource())) {
            return;
        }
        Map<String, Object> metadata =
                api.find(leases.path(node)).map(TemplateLock::metadata).orElse(Map.of());
        String holder = holder(metadata);
        if (!holder.isEmpty() && !resources.contains(holder)) {
            try {
                api.delete(leases.path(node), Map.of("preconditions", Map.of("uid", JsonTrees.text(metadata, "uid"))));
            } catch (ApiException e) {
                if (!e.notFound() && !e.conflict()) {
                    throw e;
                }
            }
        }
        holders.remove(last.resource());
        locked.remove(node);
    }

    /** Returns the age of the oldest lock of a template, in seconds; 0 if there is none. */
    long oldestSeconds(Instant now) {
        return locked.values().stream()
                .filter(each -> !each.resource().isEmpty())
                .mapToLong(
                        each -> Math.max(0, Duration.between(each.since(), now).toSeconds()))
                .max()
                .orElse(0);
    }

    private Locked locked(Map<String, Object> metadata) {
        return new Locked(
                holder(metadata), JsonTrees.time(metadata, "creationTimestamp").orElse(clock.instant()));
    }

    private static Map<String, Object> metadata(Map<String, Object> lease) {
        return JsonTrees.object(lease, "metadata");
    }

    private static String holder(Map<String, Object> metadata) {
        return JsonTrees.texts(metadata, "annotations").getOrDefault(MaintenanceKind.LOCKED_FOR, "");
    }
}
