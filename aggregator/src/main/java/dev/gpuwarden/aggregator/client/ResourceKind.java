package dev.gpuwarden.aggregator.client;

import java.util.Map;
import java.util.Optional;

/**
 * A kind of objects, or one of its objects, as in the paths of the API server.
 *
 * @param group empty for the core group
 * @param namespace empty for objects without a namespace
 * @param name name of the only object; empty for all objects
 */
public record ResourceKind(
        String group, String version, String plural, String kind, Optional<String> namespace, Optional<String> name) {

    public static ResourceKind ofCluster(String group, String version, String plural, String kind) {
        return new ResourceKind(group, version, plural, kind, Optional.empty(), Optional.empty());
    }

    /** Returns the path of their list. */
    public String path() {
        return (group.isEmpty() ? "/api/" + version : "/apis/" + group + "/" + version)
                + namespace.map(in -> "/namespaces/" + in).orElse("") + "/" + plural;
    }

    /** Returns the path of one object. */
    public String path(String name) {
        return path() + "/" + name;
    }

    public String apiVersion() {
        return group.isEmpty() ? version : group + "/" + version;
    }

    /** Returns a new object without other fields. */
    public Map<String, Object> object(Map<String, Object> metadata) {
        return Map.of("apiVersion", apiVersion(), "kind", kind, "metadata", metadata);
    }

    /** Returns a reference to one object, for example as the owner of others. */
    public Map<String, Object> reference(String object, String uid) {
        return Map.of("apiVersion", apiVersion(), "kind", kind, "name", object, "uid", uid);
    }
}
