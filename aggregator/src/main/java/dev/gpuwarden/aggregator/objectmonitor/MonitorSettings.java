package dev.gpuwarden.aggregator.objectmonitor;

import java.time.Duration;

/**
 * How objects are monitored.
 *
 * @param resync how often objects are asked about again that time can change, and nodes looked at that have matches
 * @param concurrency so many nodes are written at once
 * @param retry how often types are looked for that are not there or may not be followed
 * @param annotate whether Nodes tell people which objects match
 * @param brokenWatch for how long a watch that has broken is no trouble: most begin again in a moment
 * @param confirmFrom from so many objects of a kind, or nodes, on, a policy that matches more than half of them must be confirmed
 * @param erring for how long a predicate that errs is no trouble: what is about to start lacks for a moment what it asks for
 */
public record MonitorSettings(
        Duration resync,
        int concurrency,
        Duration retry,
        boolean annotate,
        int confirmFrom,
        Duration brokenWatch,
        Duration erring) {

    /** Three of four that break on their own at the same time are no accident. */
    public static final int CONFIRM_FROM = 4;

    public MonitorSettings(Duration resync, int concurrency, Duration retry, boolean annotate, int confirmFrom) {
        this(resync, concurrency, retry, annotate, confirmFrom, Duration.ofSeconds(20), Duration.ofSeconds(10));
    }
}
