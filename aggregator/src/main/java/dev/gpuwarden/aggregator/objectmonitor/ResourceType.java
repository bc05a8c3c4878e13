package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.JsonTrees;
import java.util.Map;

/**
 * A type of objects, as its authors name it.
 *
 * @param group empty for the core group
 */
public record ResourceType(String group, String version, String kind) {

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

    boolean isPod() {
        return group.isEmpty() && kind.equals("Pod");
    }

    @Override
    public String toString() {
        return kind + " of " + apiVersion();
    }
}
