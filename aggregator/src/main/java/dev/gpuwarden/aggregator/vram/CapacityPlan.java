package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.client.JsonTrees;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The next write of an extended resource into status.capacity of a Node. A value of another writer stays, unless an annotation
 * shows that this program has written the resource before: then the value was reset. Pure.
 */
sealed interface CapacityPlan {

    /** The field manager of the resource and the annotation. {@code clean-nodes} releases its fields. */
    String MANAGER = "gpuwarden-vram";

    /** The annotation with the name of the resource that this program has written. */
    String MARK = "gpuwarden.dev/vram-resource";

    /** The Node has this value already. */
    record Unchanged(String text) implements CapacityPlan {}

    /** Apply this object to the status. */
    record Write(Map<String, Object> body) implements CapacityPlan {}

    /** Apply these objects to the status, one after the other: the first takes a field over that the second removes. */
    record Remove(List<Map<String, Object>> bodies) implements CapacityPlan {}

    /** @param text names the owner */
    record Refused(String text) implements CapacityPlan {}

    /**
     * @param node the whole Node, with the fields of all managers
     * @param mib empty if the Node must not have the resource
     */
    static CapacityPlan of(Map<String, Object> node, String resource, OptionalLong mib) {
        Map<String, Object> metadata = JsonTrees.object(node, "metadata");
        Map<String, Object> capacity = JsonTrees.object(JsonTrees.object(node, "status"), "capacity");
        List<String> owners = owners(metadata, resource);
        boolean owned = owners.contains(MANAGER);
        boolean marked =
                resource.equals(JsonTrees.texts(metadata, "annotations").get(MARK));
        Map<String, Object> empty = body(metadata, Map.of(), Map.of());
        if (mib.isEmpty()) {
            if (!owned && !marked) {
                return new Unchanged("the Node has no " + resource + " of gpuwarden");
            }
            boolean reset = capacity.containsKey(resource) && !owned;
            return new Remove(reset ? List.of(body(metadata, resource, 0), empty) : List.of(empty));
        }
        if (capacity.containsKey(resource) && !owned && !marked) {
            return new Refused("the Node has " + resource + " " + capacity.get(resource) + " already, written by "
                    + (owners.isEmpty() ? "an unknown owner" : String.join(", ", owners))
                    + ". Remove it there, or choose another --vram.resource");
        }
        return marked && has(node, resource, mib.getAsLong())
                ? new Unchanged("the Node has " + resource + " " + mib.getAsLong())
                : new Write(body(metadata, resource, mib.getAsLong()));
    }

    /** Returns true if status.capacity has this value. */
    static boolean has(Map<String, Object> node, String resource, long mib) {
        return ExtendedResource.value(node, "capacity", resource).equals(OptionalLong.of(mib));
    }

    private static List<String> owners(Map<String, Object> metadata, String resource) {
        return JsonTrees.objects(metadata, "managedFields").stream()
                .filter(entry -> JsonTrees.object(
                                JsonTrees.object(JsonTrees.object(entry, "fieldsV1"), "f:status"), "f:capacity")
                        .containsKey("f:" + resource))
                .map(entry -> JsonTrees.text(entry, "manager"))
                .distinct()
                .toList();
    }

    private static Map<String, Object> body(Map<String, Object> metadata, String resource, long mib) {
        return body(metadata, Map.of(MARK, resource), Map.of("capacity", Map.of(resource, Long.toString(mib))));
    }

    private static Map<String, Object> body(
            Map<String, Object> metadata, Map<String, String> annotations, Map<String, Object> status) {
        Map<String, Object> name = new LinkedHashMap<>();
        name.put("name", JsonTrees.text(metadata, "name"));
        // With the uid, the request cannot write a Node that was created again.
        name.put("uid", JsonTrees.text(metadata, "uid"));
        if (!annotations.isEmpty()) {
            name.put("annotations", annotations);
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("apiVersion", "v1");
        body.put("kind", "Node");
        body.put("metadata", name);
        if (!status.isEmpty()) {
            body.put("status", status);
        }
        return body;
    }
}
