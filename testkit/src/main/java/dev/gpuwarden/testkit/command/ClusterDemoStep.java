package dev.gpuwarden.testkit.command;

import java.time.Duration;
import java.util.List;

/**
 * An action on a cluster and the checks of its effect.
 *
 * @param checks that must all succeed; the most expensive last
 * @param limit of the time until all checks succeed
 */
record ClusterDemoStep(String title, Runnable action, List<ClusterDemoCheck> checks, Duration limit) {}
