package dev.gpuwarden.aggregator.client;

import java.util.Optional;

/**
 * A kind of objects, or one of them, as the API server has it in paths.
 *
 * @param group empty for the core group
 * @param namespace empty for what lies in none
 * @param name the only one that is meant; empty for all of them
 */
public record ResourceKind(
        String group, String version, String plural, String kind, Optional<String> namespace, Optional<String> name) {

    public static ResourceKind ofCluster(String group, String version, String plural, String kind) {
        return new ResourceKind(group, version, plural, kind, Optional.empty(), Optional.empty());
    }

    /** Where they are listed. */
    public String path() {
        return (group.isEmpty() ? "/api/" + version : "/apis/" + group + "/" + version)
                + namespace.map(in -> "/namespaces/" + in).orElse("") + "/" + plural;
    }

    /** Where one of them is. */
    public String path(String name) {
        return path() + "/" + name;
    }

    public String apiVersion() {
        return group.isEmpty() ? version : group + "/" + version;
    }
}
