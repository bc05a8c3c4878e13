package dev.gpuwarden.aggregator.monitor;

import java.time.Duration;

/**
 * How objects are monitored.
 *
 * @param resync how often objects are asked about again that time can change, and nodes looked at that have matches
 * @param concurrency so many nodes are written at once
 * @param retry how often types are looked for that are not there or may not be followed
 * @param annotate whether Nodes tell people which objects match
 */
public record MonitorSettings(Duration resync, int concurrency, Duration retry, boolean annotate) {}
