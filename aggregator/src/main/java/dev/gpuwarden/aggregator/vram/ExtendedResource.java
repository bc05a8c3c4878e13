package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.core.util.JsonTrees;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.OptionalLong;

/** The amount of an extended resource of a Node. Pure. */
public final class ExtendedResource {

    private ExtendedResource() {}

    /**
     * Returns the whole number; empty if the Node has none that can be read.
     *
     * @param field capacity or allocatable
     */
    public static OptionalLong value(Map<String, Object> node, String field, String resource) {
        return parse(JsonTrees.text(JsonTrees.object(JsonTrees.object(node, "status"), field), resource));
    }

    /** Returns the number of a quantity such as `5k`, rounded down; empty if the text is none. */
    static OptionalLong parse(String text) {
        try {
            return text.isEmpty()
                    ? OptionalLong.empty()
                    : OptionalLong.of(Quantity.getAmountInBytes(new Quantity(text))
                            .setScale(0, RoundingMode.FLOOR)
                            .min(BigDecimal.valueOf(Long.MAX_VALUE))
                            .longValueExact());
        } catch (ArithmeticException | IllegalArgumentException e) {
            return OptionalLong.empty();
        }
    }
}
