package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.core.util.JsonTrees;
import java.util.Map;

/** The amount of an extended resource that a pod requests, as the scheduler counts it. Pure. */
final class RequestedBudget {

    private RequestedBudget() {}

    /**
     * Returns the amount in MiB; 0 if the pod requests none. The containers together count, or an init container with the
     * sidecars before it, where that is more.
     */
    static long mib(Map<String, Object> pod, String resource) {
        Map<String, Object> spec = JsonTrees.object(pod, "spec");
        long together = 0;
        long most = 0;
        for (Map<String, Object> container : JsonTrees.objects(spec, "initContainers")) {
            long own = ofContainer(container, resource);
            if (JsonTrees.text(container, "restartPolicy").equals("Always")) {
                together += own;
            }
            most = Math.max(
                    most, JsonTrees.text(container, "restartPolicy").equals("Always") ? together : together + own);
        }
        for (Map<String, Object> container : JsonTrees.objects(spec, "containers")) {
            together += ofContainer(container, resource);
        }
        return Math.max(most, together) + amount(JsonTrees.object(spec, "overhead"), resource);
    }

    /** A request of an extended resource equals its limit. */
    private static long ofContainer(Map<String, Object> container, String resource) {
        Map<String, Object> resources = JsonTrees.object(container, "resources");
        Map<String, Object> requests = JsonTrees.object(resources, "requests");
        return amount(requests.containsKey(resource) ? requests : JsonTrees.object(resources, "limits"), resource);
    }

    private static long amount(Map<String, Object> quantities, String resource) {
        Object quantity = quantities.get(resource);
        return quantity == null
                ? 0
                : ExtendedResource.parse(quantity.toString()).orElse(0);
    }
}
