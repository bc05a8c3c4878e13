package dev.gpuwarden.core.check;

import java.util.List;

/** Follows checks that were requested. Its methods run on the requesting thread, and no lock is held. */
public interface RunListener {

    RunListener NONE = new RunListener() {};

    /** Called once for each requested check, in the order in which they end. */
    default void ended(CheckResult result) {}

    /** Called once a second with those of the requested checks that run now; may be empty while they wait for others. */
    default void running(List<RunningCheck> now) {}

    /** Returns whether the results are of no use any more; asked once a second. The checks run to their end. */
    default boolean gone() {
        return false;
    }
}
