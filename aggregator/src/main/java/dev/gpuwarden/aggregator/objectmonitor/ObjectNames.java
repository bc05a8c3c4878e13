package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.core.util.Sha256;
import java.util.Map;

/** What objects are called where faults are: `namespace/name`, never longer than a fault's entity may be. */
final class ObjectNames {

    /** As the schema of NodeHealth has it. */
    private static final int LONGEST = 256;

    private static final int DIGEST = 16;

    private ObjectNames() {}

    static String of(Map<String, Object> object) {
        Map<String, Object> metadata = JsonTrees.object(object, "metadata");
        String namespace = JsonTrees.text(metadata, "namespace");
        String name = JsonTrees.text(metadata, "name");
        return shortened(namespace.isEmpty() ? name : namespace + "/" + name);
    }

    /** Another one for each name, though their beginnings are the same. */
    static String shortened(String name) {
        if (name.length() <= LONGEST) {
            return name;
        }
        return name.substring(0, LONGEST - DIGEST - 1) + "~" + Sha256.hex(name, DIGEST);
    }
}
