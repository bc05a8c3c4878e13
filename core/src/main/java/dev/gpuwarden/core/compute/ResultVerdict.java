package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.model.Reading;

/**
 * The verdict on one GPU's results.
 *
 * @param wrongRuns rounds of products, or patterns of a memory test, with a wrong result: 0 unless the outcome is WRONG
 * @param text the GPU, the figures, and for wrong results the SM and the first element
 */
public record ResultVerdict(String gpu, Outcome outcome, int wrongRuns, String text) {

    /** The outcome of a comparison. */
    public enum Outcome {
        RIGHT,
        WRONG,
        /** There is no result, or it cannot be attributed to one GPU. */
        UNDECIDED
    }

    static ResultVerdict right(String gpu, String text) {
        return new ResultVerdict(gpu, Outcome.RIGHT, 0, gpu + ": " + text);
    }

    static ResultVerdict wrong(String gpu, int wrongRuns, String text) {
        return new ResultVerdict(gpu, Outcome.WRONG, wrongRuns, gpu + ": " + text);
    }

    static ResultVerdict undecided(String gpu, String text) {
        return new ResultVerdict(gpu, Outcome.UNDECIDED, 0, gpu + ": " + text);
    }

    static ResultVerdict absent(String gpu, Reading.Absent<?> why) {
        return undecided(gpu, "no result: " + why.text());
    }
}
