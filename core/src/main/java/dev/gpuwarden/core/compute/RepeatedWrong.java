package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.compute.ResultVerdict.Outcome;
import java.util.List;

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

    /** Right runs in a row after which earlier wrong results no longer count: with a run every four hours, those of 17 days. */
    public static final int FORGOTTEN = 100;

    /** Bound on the count, which decides nothing beyond {@link #FAULT}. */
    private static final int MOST_WRONG = 100;

    /** Returns a state with numbers from elsewhere, each brought into its range. */
    public static RepeatedWrong of(long wrong, long rightInRow) {
        return new RepeatedWrong(
                (int) Math.max(0, Math.min(wrong, MOST_WRONG)), (int) Math.max(0, Math.min(rightInRow, FORGOTTEN - 1)));
    }

    /**
     * Returns the state after one more run of a check. A run counts once as right, however many verdicts it has; each wrong result counts,
     * and each planted error that was missed.
     * A run without a result changes nothing.
     */
    public RepeatedWrong after(List<ResultVerdict> run) {
        int more = run.stream()
                .filter(ResultVerdict::accuses)
                .mapToInt(verdict -> Math.max(1, verdict.wrongRuns()))
                .sum();
        if (more > 0) {
            return new RepeatedWrong(Math.min(wrong + more, MOST_WRONG), 0);
        }
        if (run.stream().noneMatch(verdict -> verdict.outcome() == Outcome.RIGHT)) {
            return this;
        }
        return rightInRow + 1 >= FORGOTTEN ? NONE : new RepeatedWrong(wrong, wrong == 0 ? 0 : rightInRow + 1);
    }

    public boolean isFault() {
        return wrong >= FAULT;
    }
}
