package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.model.Reading;

/**
 * The verdict on one GPU's results.
 *
 * @param wrongRuns rounds of products, or patterns of a memory test, with a wrong result, or planted errors that were missed; 0 unless
 *     the outcome is WRONG or BLIND
 * @param text the GPU, the figures, and for wrong results the SM and the first element
 */
public record ResultVerdict(String gpu, Outcome outcome, int wrongRuns, String text) {

    /** The outcome of a comparison. */
    public enum Outcome {
        RIGHT,
        WRONG,
        /** The GPU's comparison missed an error that the host had planted: it computes wrong, and its other results prove nothing. */
        BLIND,
        /** There is no result, or it cannot be attributed to one GPU. */
        UNDECIDED
    }

    /** Returns the verdict on results none of which was wrong, by the errors that were planted before their comparison. */
    static ResultVerdict notWrong(String gpu, PlantedErrors errors, String text) {
        if (errors.missed() > 0) {
            return blind(gpu, errors);
        }
        return errors.planted() > 0
                ? right(gpu, text)
                : undecided(gpu, "no error was planted, so that the GPU's own comparison proves nothing");
    }

    static ResultVerdict right(String gpu, String text) {
        return new ResultVerdict(gpu, Outcome.RIGHT, 0, gpu + ": " + text);
    }

    static ResultVerdict wrong(String gpu, int wrongRuns, String text) {
        return new ResultVerdict(gpu, Outcome.WRONG, wrongRuns, gpu + ": " + text);
    }

    static ResultVerdict blind(String gpu, PlantedErrors errors) {
        return new ResultVerdict(gpu, Outcome.BLIND, errors.missed(), gpu + ": " + errors.text());
    }

    /** Returns whether the GPU certainly computed something wrong. */
    public boolean accuses() {
        return outcome == Outcome.WRONG || outcome == Outcome.BLIND;
    }

    static ResultVerdict undecided(String gpu, String text) {
        return new ResultVerdict(gpu, Outcome.UNDECIDED, 0, gpu + ": " + text);
    }

    static ResultVerdict absent(String gpu, Reading.Absent<?> why) {
        return undecided(gpu, "no result: " + why.text());
    }
}
