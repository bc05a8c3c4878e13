package dev.gpuwarden.core.compute;

import java.util.OptionalDouble;

/**
 * The verdict on one GPU's rate. Rates have the unit of the samples.
 *
 * @param siblingsMedian of equal boards in the same run, without this one; empty if there is none
 * @param siblings number of equal boards with a rate, without this one
 * @param historyMedian of the GPU's earlier rates; empty if there is none
 * @param text the GPU, its rate, and what it was compared with
 */
public record StragglerVerdict(
        String gpu,
        Outcome outcome,
        OptionalDouble siblingsMedian,
        int siblings,
        OptionalDouble historyMedian,
        String text) {

    /** The outcome of a comparison. */
    public enum Outcome {
        EVEN,
        SLOW,
        /** There is no rate, or nothing to compare it with. */
        UNDECIDED
    }
}
