package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.core.util.JsonTrees;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The annotation of a Node with several cards: the part of the resource that its largest card has. Pure. */
final class CardMark {

    /** The field manager of the annotation. {@code clean-nodes} releases its fields. */
    static final String MANAGER = "gpuwarden-vram-card";

    static final String NAME = "gpuwarden.dev/vram-largest-card-mib";

    private CardMark() {}

    /** Returns the amount in the annotation; empty if there is none. */
    static OptionalLong of(Map<String, String> annotations) {
        return ExtendedResource.parse(annotations.getOrDefault(NAME, ""));
    }

    /** Returns the object to apply to the Node; empty if it has this amount, or none where it is empty. */
    static Optional<Map<String, Object>> write(Map<String, Object> node, OptionalLong mib) {
        Map<String, Object> metadata = JsonTrees.object(node, "metadata");
        Map<String, String> annotations = JsonTrees.texts(metadata, "annotations");
        if (mib.isEmpty() ? !annotations.containsKey(NAME) : of(annotations).equals(mib)) {
            return Optional.empty();
        }
        Map<String, Object> name = new LinkedHashMap<>();
        name.put("name", JsonTrees.text(metadata, "name"));
        // With the uid, the request cannot write a Node that was created again.
        name.put("uid", JsonTrees.text(metadata, "uid"));
        mib.ifPresent(amount -> name.put("annotations", Map.of(NAME, Long.toString(amount))));
        return Optional.of(Map.of("apiVersion", "v1", "kind", "Node", "metadata", name));
    }
}
