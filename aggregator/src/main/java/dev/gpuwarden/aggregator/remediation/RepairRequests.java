package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The creation of the resources of repairs. */
final class RepairRequests {

    private final KubeClient api;
    private final MaintenanceResources resources;
    private final RepairTemplates templates;

    RepairRequests(KubeClient api, MaintenanceResources resources, RepairTemplates templates) {
        this.api = api;
        this.resources = resources;
        this.templates = templates;
    }

    /**
     * Creates the resource of a repair, unless it exists. Blocks.
     *
     * @param demands requests of the node's faults
     * @return reason why the API server refuses the resource for good; empty if it exists now
     * @throws ApiException if the request fails for another reason, so that a later one may succeed
     */
    Optional<String> create(CachedNode node, Repair repair, List<Demand> demands)
            throws ApiException, InterruptedException {
        Optional<RepairTemplate> template = templates.of(repair.group());
        if (template.isEmpty() && repair.group().template().isPresent()) {
            return Optional.of("its template is no longer configured");
        }
        ResourceKind kind = repair.group().kind().resources();
        Map<String, Object> made;
        try {
            made = api.create(
                    kind.path() + "?fieldManager=" + RepairAnnotations.MANAGER,
                    template.isPresent()
                            ? template.get().body(node.name(), node.uid(), repair, values(node, repair, demands))
                            : body(node, repair));
        } catch (ApiException e) {
            if (e.invalid() || e.unreadable()) {
                return Optional.of("the API server refuses its resource: " + e.answer());
            }
            if (!e.alreadyThere()) {
                throw e;
            }
            made = api.get(kind.path(repair.resource()));
        }
        if (!isOf(node, made)) {
            return Optional.of("a resource with its name exists already, of another creator");
        }
        resources.answered(repair.group().kind(), made);
        return Optional.empty();
    }

    /** Returns the values for an attempt. After a change of the faults, they are those of another one of its GPUs. */
    static Map<String, Object> values(CachedNode node, Repair repair, List<Demand> demands) {
        Demand demand = demands.stream()
                .filter(each -> each.fault().equals(repair.fault()))
                .findFirst()
                .or(() -> demands.stream().filter(repair::isFor).findFirst())
                .orElseThrow(() -> new IllegalStateException("an attempt without a fault: " + repair));
        return FaultJson.values(node.name(), node.uid(), repair, demand);
    }

    private static boolean isOf(CachedNode node, Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        return MaintenanceResource.US.equals(JsonTrees.texts(metadata, "labels").get(MaintenanceResource.MANAGED_BY))
                && node.uid().equals(JsonTrees.texts(metadata, "annotations").get(MaintenanceResource.NODE_UID));
    }

    static Map<String, Object> body(CachedNode node, Repair repair) {
        ResourceKind kind = repair.group().kind().resources();
        Map<String, Object> spec = new LinkedHashMap<>();
        spec.put("nodeName", node.name());
        if (repair.group().restarts()) {
            spec.put("force", false);
        } else {
            spec.put("selector", Map.of("uuids", List.copyOf(repair.group().gpus())));
        }
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("name", repair.resource());
        metadata.put("labels", Map.of(MaintenanceResource.MANAGED_BY, MaintenanceResource.US));
        metadata.put(
                "annotations",
                Map.of(
                        MaintenanceResource.NODE_UID, node.uid(),
                        MaintenanceResource.FAULT, repair.why(),
                        MaintenanceResource.GROUP, repair.group().name()));
        metadata.put(
                "ownerReferences",
                List.of(Map.of("apiVersion", "v1", "kind", "Node", "name", node.name(), "uid", node.uid())));
        return Map.of("apiVersion", kind.apiVersion(), "kind", kind.kind(), "metadata", metadata, "spec", spec);
    }
}
