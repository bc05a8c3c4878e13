package dev.gpuwarden.testkit.command;

import java.time.Duration;
import java.util.List;

/**
 * Something that is done to a cluster, and how it must show.
 *
 * @param looks all of them must show it; what costs most comes last
 * @param limit how long that may take
 */
record ClusterAct(String what, Runnable doing, List<ClusterLook> looks, Duration limit) {

    static ClusterAct of(String what, int limitSeconds, Runnable doing, ClusterLook... looks) {
        return new ClusterAct(what, doing, List.of(looks), Duration.ofSeconds(limitSeconds));
    }
}
