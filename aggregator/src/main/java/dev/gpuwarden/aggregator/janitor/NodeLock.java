package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.janitor.NodeLock.Lock.State;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The lock of each node: a Lease with its name, whose one owner is the resource that acts. The create takes it. It never
 * expires, because a node that does not answer may still act. Each call blocks for the API server.
 */
final class NodeLock {

    /** The lock of the node. */
    record Lock(State state, String leaseUid, String holder) {

        enum State {
            FREE,
            OURS,
            /** Another resource that this program carries out has it. */
            OTHER,
            /** Its owner has ended, or does not exist any more. */
            ORPHAN,
            /** Another program has it. */
            FOREIGN
        }

        static final Lock FREE = new Lock(State.FREE, "", "");
    }

    private final KubeClient api;
    private final ResourceKind leases;

    NodeLock(KubeClient api, String namespace) {
        this.api = api;
        this.leases = MaintenanceKind.locks(namespace);
    }

    static Map<String, Object> owner(Maintenance resource) {
        return resource.kind().resources().reference(resource.name(), resource.uid());
    }

    static Map<String, Object> lease(ResourceKind leases, Maintenance resource) {
        return leases.object(Map.of("name", resource.node(), "ownerReferences", List.of(owner(resource))));
    }

    /** Returns the lock of a node as a resource sees it. */
    Lock read(String node, String uid) throws ApiException, InterruptedException {
        Optional<Map<String, Object>> lease = api.find(leases.path(node));
        if (lease.isEmpty()) {
            return Lock.FREE;
        }
        Map<String, Object> metadata = JsonTrees.object(lease.get(), "metadata");
        String leaseUid = JsonTrees.text(metadata, "uid");
        List<Map<String, Object>> owners = JsonTrees.objects(metadata, "ownerReferences");
        if (metadata.containsKey("deletionTimestamp")) {
            return new Lock(State.OTHER, leaseUid, "a Lease that is being deleted");
        }
        String template = JsonTrees.texts(metadata, "annotations").get(MaintenanceKind.LOCKED_FOR);
        if (template != null
                && !owners.isEmpty()
                && JsonTrees.text(owners.get(0), "kind").equals("Node")) {
            return new Lock(State.OTHER, leaseUid, template + ", the resource of a template,");
        }
        if (owners.size() != 1) {
            return new Lock(State.FOREIGN, leaseUid, "a Lease with " + owners.size() + " owners");
        }
        return owned(owners.get(0), leaseUid, uid);
    }

    private Lock owned(Map<String, Object> owner, String leaseUid, String uid)
            throws ApiException, InterruptedException {
        String ownerUid = JsonTrees.text(owner, "uid");
        String name = JsonTrees.text(owner, "name");
        String title = JsonTrees.text(owner, "kind") + " " + name;
        if (ownerUid.equals(uid)) {
            return new Lock(State.OURS, leaseUid, title);
        }
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            ResourceKind resources = kind.resources();
            if (JsonTrees.text(owner, "kind").equals(resources.kind())
                    && JsonTrees.text(owner, "apiVersion").equals(resources.apiVersion())) {
                Optional<Maintenance> holder = api.find(resources.path(name))
                        .map(tree -> Maintenance.of(kind, tree))
                        .filter(found -> found.uid().equals(ownerUid));
                State state = holder.isEmpty() || holder.get().released()
                        ? State.ORPHAN
                        : holder.get().hasFinalizer() ? State.OTHER : State.FOREIGN;
                return new Lock(state, leaseUid, title);
            }
        }
        return new Lock(State.FOREIGN, leaseUid, title + ", an owner of another program");
    }

    /**
     * Creates the Lease. Returns empty for an existing one, which belongs to another resource, or is the own one of a create
     * without an answer.
     */
    Optional<Lock> take(Maintenance resource) throws ApiException, InterruptedException {
        try {
            Map<String, Object> made = api.create(leases.path(), lease(leases, resource));
            String uid = JsonTrees.text(JsonTrees.object(made, "metadata"), "uid");
            return Optional.of(new Lock(State.OURS, uid, resource.title()));
        } catch (ApiException e) {
            if (!e.alreadyThere()) {
                throw e;
            }
            return Optional.empty();
        }
    }

    /** Deletes the Lease if it still has this UID. */
    void release(String node, String leaseUid) throws ApiException, InterruptedException {
        try {
            api.delete(leases.path(node), Map.of("preconditions", Map.of("uid", leaseUid)));
        } catch (ApiException e) {
            if (!e.notFound() && !e.conflict()) {
                throw e;
            }
        }
    }
}
