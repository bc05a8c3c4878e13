package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.compute.ResultVerdict.Outcome;

/**
 * The wrong results of one GPU over its runs. A single one is no fault yet: it can be the work of a particle, which no repair prevents.
 * Immutable and pure.
 *
 * @param wrong rounds or patterns with a wrong result since the last forgetting
 * @param rightInRow runs without a wrong result since then
 */
public record RepeatedWrong(int wrong, int rightInRow) {

    public static final RepeatedWrong NONE = new RepeatedWrong(0, 0);

    /** Wrong results that are a fault, in one run or in several. */
    public static final int FAULT = 2;

    /** Right runs in a row after which earlier wrong results no longer count. */
    public static final int FORGOTTEN = 100;

    /** Returns the state after one more run. A run without a result changes nothing. */
    public RepeatedWrong after(ResultVerdict verdict) {
        if (verdict.outcome() == Outcome.UNDECIDED) {
            return this;
        }
        if (verdict.outcome() == Outcome.WRONG) {
            return new RepeatedWrong(Math.min(wrong + Math.max(1, verdict.wrongRuns()), FORGOTTEN), 0);
        }
        return rightInRow + 1 >= FORGOTTEN ? NONE : new RepeatedWrong(wrong, wrong == 0 ? 0 : rightInRow + 1);
    }

    public boolean isFault() {
        return wrong >= FAULT;
    }
}
