package dev.gpuwarden.testkit.command;

import dev.gpuwarden.testkit.cluster.KubeletPace;

/**
 * How fast a demo in a cluster goes on where it is free to choose.
 *
 * @param daemonSettings a manifest with settings of the daemons, beside this class; empty for none
 * @param operatorSeconds how long an operator's pod may take to come up
 */
record ClusterPace(KubeletPace kubelets, String daemonSettings, int operatorSeconds) {

    /** As people can follow, with kubelets as they are everywhere. */
    static final ClusterPace USUAL = new ClusterPace(KubeletPace.USUAL, "", 20);

    /** As fast as the acts still show the same: pods that are well come up within these seconds on a busy machine too. */
    static final ClusterPace FAST = new ClusterPace(KubeletPace.FAST, "fast-settings.yaml", 10);
}
