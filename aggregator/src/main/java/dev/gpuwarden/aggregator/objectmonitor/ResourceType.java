package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cel.KnownFields;
import dev.gpuwarden.aggregator.client.JsonTrees;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * A type of objects, as its authors name it.
 *
 * @param group empty for the core group
 */
public record ResourceType(String group, String version, String kind) {

    private static final Set<String> CORE = Set.of("apiVersion", "kind", "metadata", "spec", "status");

    /** All fields of ObjectMeta in meta/v1. */
    private static final Set<String> METADATA = Set.of(
            "annotations",
            "creationTimestamp",
            "deletionGracePeriodSeconds",
            "deletionTimestamp",
            "finalizers",
            "generateName",
            "generation",
            "labels",
            "managedFields",
            "name",
            "namespace",
            "ownerReferences",
            "resourceVersion",
            "selfLink",
            "uid");

    /** Kinds of the core group whose fields beside the metadata are known. */
    private static final Set<String> WITH_SPEC_AND_STATUS = Set.of("Pod", "Node");

    /** What an object says that it is. */
    static ResourceType of(Map<String, Object> object) {
        String apiVersion = JsonTrees.text(object, "apiVersion");
        int slash = apiVersion.indexOf('/');
        return new ResourceType(
                slash < 0 ? "" : apiVersion.substring(0, slash),
                apiVersion.substring(slash + 1),
                JsonTrees.text(object, "kind"));
    }

    String apiVersion() {
        return group.isEmpty() ? version : group + "/" + version;
    }

    /** Where the API server says what there is of this group and version. */
    String discoveryPath() {
        return group.isEmpty() ? "/api/" + version : "/apis/" + group + "/" + version;
    }

    /** Returns the fields that each object of this type can have, for the variable that holds it. */
    KnownFields knownFields(String variable) {
        Map<String, Set<String>> fields = new HashMap<>(Map.of(variable + ".metadata", METADATA));
        if (group.isEmpty() && WITH_SPEC_AND_STATUS.contains(kind)) {
            fields.put(variable, CORE);
        }
        return new KnownFields(
                fields,
                Map.of(),
                variable + " (" + this + ", as the API server has it: " + variable + ".metadata.name, " + variable
                        + ".status …), now (the time), has(), timestamp(), duration(), exists, all, filter, map, and CEL's"
                        + " text functions");
    }

    boolean isPod() {
        return group.isEmpty() && kind.equals("Pod");
    }

    @Override
    public String toString() {
        return kind + " of " + apiVersion();
    }
}
