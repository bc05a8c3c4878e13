package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.nat.nvml.NvmlSymbol;
import java.util.List;

/**
 * One step of a plan. Steps run in order, and each fills only slots that are still open: not yet filled, or "not
 * supported" after a step before. So a later step is the fall-back of an earlier one, and costs no call where it is not
 * needed.
 */
public sealed interface Step {

    /** A step that calls the library; the plan omits it where the library lacks the function. */
    sealed interface Calling extends Step {
        NvmlSymbol symbol();
    }

    /**
     * A call with results in scratch memory.
     *
     * @param arguments plain arguments, as many as the shape has
     * @param version version word at the start of the scratch memory, or 0. With a version word, codes 25 and 2
     *     mean that this library requires another version: not supported
     */
    record Call(NvmlSymbol symbol, Shape shape, List<Integer> arguments, int version, List<Take> takes)
            implements Calling {}

    /** One call for many field values. An unknown field is not supported. */
    record Fields(NvmlSymbol symbol, List<Field> fields) implements Calling {}

    /**
     * A step that reads from slot NVLINK_LINKS, which a step before has filled, how many links the later steps query.
     * It closes the slots of all other links: not supported, or with the cause of the missing count.
     */
    record LinkCount() implements Step {}

    /**
     * One call for field values of as many links as the GPU has.
     *
     * @param byLink the fields of each link, in order of link
     */
    record LinkFields(NvmlSymbol symbol, List<List<Field>> byLink) implements Calling {}

    /**
     * One call for each link that the GPU has: f(device, link, out), or f(device, link, argument, out).
     *
     * @param argument plain argument after the link; ignored by {@link Shape#ARG_OUT}
     */
    record LinkCall(NvmlSymbol symbol, Shape shape, int argument, Take.Width width, LinkMetric metric)
            implements Calling {}
}
