package dev.gpuwarden.core.check;

import java.util.List;

/** The checks of this node: their last results, and runs on demand. Thread-safe. */
public interface CheckRegistry {

    /** Returns all checks. */
    List<CheckInfo> checks();

    /** Returns the last result of each check that has run, by id. Does not block. */
    List<CheckResult> results();

    /** Returns the parts between healthy and faulty since the last round. Does not block. */
    default List<Damping> damping() {
        return List.of();
    }

    /** Returns the checks that run now, also one that hangs. Does not block. */
    default List<RunningCheck> running() {
        return List.of();
    }

    /** Runs these checks as the other method does, without a listener. */
    default List<CheckResult> run(List<String> ids) {
        return run(ids, RunListener.NONE);
    }

    /**
     * Runs these checks, each bounded by its deadline, and returns their results. It waits for a check that is already
     * running, and does not start it twice. It ends early, with the results so far, when the listener is gone.
     *
     * @param ids empty means all
     * @throws IllegalArgumentException for an unknown id
     */
    List<CheckResult> run(List<String> ids, RunListener listener);
}
