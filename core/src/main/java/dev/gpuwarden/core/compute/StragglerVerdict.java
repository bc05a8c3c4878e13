package dev.gpuwarden.core.compute;

/**
 * The verdict on one GPU's rate.
 *
 * @param text the GPU, its rate, and what it was compared with
 */
public record StragglerVerdict(Outcome outcome, String text) {

    /** The outcome of a comparison. */
    public enum Outcome {
        EVEN,
        SLOW,
        /** There is no rate, or nothing to compare it with. */
        UNDECIDED
    }
}
