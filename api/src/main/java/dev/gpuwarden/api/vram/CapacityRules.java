package dev.gpuwarden.api.vram;

import dev.gpuwarden.core.util.JsonTrees;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * The extended resource that a program writes into a Node, and the proof that a value there is its own. Pure.
 *
 * @param marks true if the program also writes an annotation that proves it. A program without the right to annotations has
 *     the record of field managers alone, and its own memory
 * @param quantity reads the API server's quantity; empty for a text that is none
 */
public record CapacityRules(String resource, boolean marks, Function<String, OptionalLong> quantity) {

    /** Returns true if status.capacity has this value. */
    public boolean has(Map<?, ?> node, long mib) {
        return value(node).equals(OptionalLong.of(mib));
    }

    OptionalLong value(Map<?, ?> node) {
        return quantity.apply(JsonTrees.text(capacity(node), resource));
    }

    static Map<?, ?> capacity(Map<?, ?> node) {
        return JsonTrees.object(JsonTrees.object(node, "status"), "capacity");
    }
}
