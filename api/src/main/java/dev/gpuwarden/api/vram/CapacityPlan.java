package dev.gpuwarden.api.vram;

import dev.gpuwarden.core.util.JsonTrees;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The next write of an extended resource into status.capacity of a Node. A value of another writer stays, unless there is a proof
 * that gpuwarden has written the resource before: then the value was reset. Pure.
 */
public sealed interface CapacityPlan {

    /** The field manager of the resource and the annotation. {@code clean-nodes} releases its fields. */
    String MANAGER = "gpuwarden-vram";

    /** The annotation with the name of the resource that gpuwarden has written. */
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
     * @param written true if this program remembers that it wrote the resource
     */
    static CapacityPlan of(Map<?, ?> node, CapacityRules rules, OptionalLong mib, boolean written) {
        String resource = rules.resource();
        Map<?, ?> metadata = JsonTrees.object(node, "metadata");
        Map<?, ?> capacity = CapacityRules.capacity(node);
        List<String> owners = owners(metadata, resource);
        boolean owned = owners.contains(MANAGER);
        String mark = JsonTrees.texts(metadata, "annotations").getOrDefault(MARK, "");
        boolean proven = owned || written || mark.equals(resource);
        // A program without the right to annotations must not lose the one of another program: it applies it unchanged.
        Map<String, String> kept = rules.marks() || mark.isEmpty() ? Map.of() : Map.of(MARK, mark);
        Map<String, String> marked = rules.marks() ? Map.of(MARK, resource) : kept;
        if (mib.isEmpty()) {
            return !proven || !rules.marks() && !capacity.containsKey(resource)
                    ? new Unchanged("the Node has no " + resource + " of gpuwarden")
                    : removal(metadata, resource, capacity.containsKey(resource) && !owned, marked, kept);
        }
        if (capacity.containsKey(resource) && !proven && !isReset(node, rules, owners)) {
            return new Refused("the Node has " + resource + " " + capacity.get(resource) + " already, written by "
                    + (owners.isEmpty() ? "an unknown owner" : String.join(", ", owners))
                    + ". Remove it there, or choose another --vram.resource");
        }
        return rules.has(node, mib.getAsLong()) && (!rules.marks() || mark.equals(resource))
                ? new Unchanged("the Node has " + resource + " " + mib.getAsLong())
                : new Write(body(metadata, marked, resource, mib.getAsLong()));
    }

    /** Returns true for the 0 of a kubelet that lost its own records. Without an annotation nothing else proves whose it was. */
    private static boolean isReset(Map<?, ?> node, CapacityRules rules, List<String> owners) {
        return !rules.marks()
                && owners.equals(List.of("kubelet"))
                && rules.value(node).equals(OptionalLong.of(0));
    }

    private static Remove removal(
            Map<?, ?> metadata,
            String resource,
            boolean takesOver,
            Map<String, String> marked,
            Map<String, String> kept) {
        Map<String, Object> last = body(metadata, kept, Map.of());
        return new Remove(takesOver ? List.of(body(metadata, marked, resource, 0), last) : List.of(last));
    }

    private static List<String> owners(Map<?, ?> metadata, String resource) {
        return JsonTrees.objects(metadata, "managedFields").stream()
                .filter(entry -> JsonTrees.object(
                                JsonTrees.object(JsonTrees.object(entry, "fieldsV1"), "f:status"), "f:capacity")
                        .containsKey("f:" + resource))
                .map(entry -> JsonTrees.text(entry, "manager"))
                .distinct()
                .toList();
    }

    private static Map<String, Object> body(
            Map<?, ?> metadata, Map<String, String> annotations, String resource, long mib) {
        return body(metadata, annotations, Map.of("capacity", Map.of(resource, Long.toString(mib))));
    }

    private static Map<String, Object> body(
            Map<?, ?> metadata, Map<String, String> annotations, Map<String, Object> status) {
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
