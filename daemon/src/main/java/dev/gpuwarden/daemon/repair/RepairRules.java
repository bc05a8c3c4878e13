package dev.gpuwarden.daemon.repair;

import java.time.Duration;
import java.util.Set;

/**
 * The bounds of repairs.
 *
 * @param settle time that a fault lasts before a repair, and that the server has after one to report that it is over
 * @param attempts resets of one GPU before the reboot, and reboots for one GPU before an operator
 * @param mostPerDay repairs of all kinds within 24 h
 * @param reboots whether this server may be rebooted
 * @param hooks names of the actions that the user's program carries out
 */
record RepairRules(Duration settle, int attempts, int mostPerDay, boolean reboots, Set<String> hooks) {

    /** Time for which earlier repairs of a GPU count, as in the aggregator. */
    static final Duration MEMORY = Duration.ofDays(7);

    static final Duration DAY = Duration.ofDays(1);

    /** The least time after a repair in which checks and telemetry report that the faults are over: some ticks and runs. */
    static final Duration REPORT = Duration.ofSeconds(10);

    /** Pause before a GPU that was in use is tried again. */
    static final Duration RETRY = Duration.ofHours(1);

    RepairRules {
        hooks = Set.copyOf(hooks);
    }
}
