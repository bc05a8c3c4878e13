package dev.gpuwarden.core.check;

import java.util.List;

/** What the checks of this node said, and a way to have them run now. Thread-safe. */
public interface CheckRegistry {

    /** Every check that there is. */
    List<CheckInfo> checks();

    /** The last result of each check that has run, by id. Never waits. */
    List<CheckResult> results();

    /** What is between sound and faulty since the last round. Never waits. */
    default List<Damping> damping() {
        return List.of();
    }

    /**
     * Runs these checks now, each bounded by its deadline, and returns their results. A check that is under way is waited
     * for, not run twice.
     *
     * @param ids empty means all
     * @throws IllegalArgumentException for an id that no check has
     */
    List<CheckResult> run(List<String> ids);
}
