package dev.gpuwarden.aggregator.objectmonitor;

import java.time.Duration;

/**
 * @param resync the period after which objects that time can change are evaluated again, and the faults of nodes with matches
 *     reconciled
 * @param concurrency the number of nodes that are written at the same time
 * @param retry the period between checks of types that do not exist or may not be watched
 * @param annotate true if the Nodes name the matching objects in an annotation for operators
 * @param brokenWatch the time for which a broken watch is no trouble; most begin again in a moment
 * @param confirmFrom the number of objects of a kind, or of nodes, from which a policy must be confirmed if it matches more
 *     than half
 * @param erring the time for which a failing predicate is no trouble: a starting object lacks fields for a moment
 */
public record MonitorSettings(
        Duration resync,
        int concurrency,
        Duration retry,
        boolean annotate,
        int confirmFrom,
        Duration brokenWatch,
        Duration erring) {

    /** Three of four objects that break independently at the same time are no accident. */
    public static final int CONFIRM_FROM = 4;

    public MonitorSettings(Duration resync, int concurrency, Duration retry, boolean annotate, int confirmFrom) {
        this(resync, concurrency, retry, annotate, confirmFrom, Duration.ofSeconds(20), Duration.ofSeconds(10));
    }
}
