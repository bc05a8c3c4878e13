package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The lock of a node while a user's template acts on it: the Lease that the janitor takes for a reset or a reboot, also for one
 * made by hand. Its owner is the Node, since the resource does not exist yet when the lock is taken. Each call blocks for the API
 * server.
 */
final class TemplateLock {

    private final KubeClient api;
    private final ResourceKind leases;

    TemplateLock(KubeClient api, String namespace) {
        this.api = api;
        this.leases = new ResourceKind(
                "coordination.k8s.io", "v1", "leases", "Lease", Optional.of(namespace), Optional.empty());
    }

    /** Takes the lock for an attempt. Returns the present holder; empty if the attempt has the lock. */
    Optional<String> take(CachedNode node, Repair repair) throws ApiException, InterruptedException {
        try {
            var unused = api.create(
                    leases.path(),
                    Map.of(
                            "apiVersion",
                            "coordination.k8s.io/v1",
                            "kind",
                            "Lease",
                            "metadata",
                            Map.of(
                                    "name",
                                    node.name(),
                                    "labels",
                                    Map.of(MaintenanceResource.MANAGED_BY, MaintenanceResource.US),
                                    "annotations",
                                    Map.of(MaintenanceKind.LOCKED_FOR, repair.resource()),
                                    "ownerReferences",
                                    List.of(Map.of(
                                            "apiVersion",
                                            "v1",
                                            "kind",
                                            "Node",
                                            "name",
                                            node.name(),
                                            "uid",
                                            node.uid())))));
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
        return Optional.of(JsonTrees.objects(metadata, "ownerReferences").stream()
                .map(owner -> JsonTrees.text(owner, "kind") + " " + JsonTrees.text(owner, "name"))
                .findFirst()
                .orElse("a Lease without an owner"));
    }

    /** Releases the lock if this attempt has it. */
    void release(String node, Repair repair) throws ApiException, InterruptedException {
        Map<String, Object> metadata =
                api.find(leases.path(node)).map(TemplateLock::metadata).orElse(Map.of());
        if (!holder(metadata).equals(repair.resource())) {
            return;
        }
        try {
            api.delete(leases.path(node), Map.of("preconditions", Map.of("uid", JsonTrees.text(metadata, "uid"))));
        } catch (ApiException e) {
            if (!e.notFound() && !e.conflict()) {
                throw e;
            }
        }
    }

    private static Map<String, Object> metadata(Map<String, Object> lease) {
        return JsonTrees.object(lease, "metadata");
    }

    private static String holder(Map<String, Object> metadata) {
        return JsonTrees.texts(metadata, "annotations").getOrDefault(MaintenanceKind.LOCKED_FOR, "");
    }
}
