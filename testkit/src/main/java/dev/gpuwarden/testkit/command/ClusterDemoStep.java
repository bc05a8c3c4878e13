package dev.gpuwarden.testkit.command;

import java.time.Duration;
import java.util.List;

/**
 * Something that is done to a cluster, and how it must show.
 *
 * @param checks all of them must show it; what costs most comes last
 * @param limit how long that may take
 */
record ClusterDemoStep(String title, Runnable action, List<ClusterDemoCheck> checks, Duration limit) {

    static ClusterDemoStep of(String title, int limitSeconds, Runnable action, ClusterDemoCheck... checks) {
        return new ClusterDemoStep(title, action, List.of(checks), Duration.ofSeconds(limitSeconds));
    }
}
