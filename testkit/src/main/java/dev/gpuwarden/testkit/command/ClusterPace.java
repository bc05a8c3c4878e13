package dev.gpuwarden.testkit.command;

import dev.gpuwarden.testkit.cluster.KubeletPace;

/**
 * The pace of a demo in a cluster.
 *
 * @param daemonSettings a manifest with settings of the daemons, beside this class; empty for none
 * @param operatorSeconds limit of the start of an operator's pod
 */
record ClusterPace(KubeletPace kubelets, String daemonSettings, int operatorSeconds) {

    /** A pace that viewers can follow, with the defaults of kubelets. */
    static final ClusterPace USUAL = new ClusterPace(KubeletPace.USUAL, "", 20);

    /** The fastest pace with the same results: healthy pods start within these seconds on a busy machine too. */
    static final ClusterPace FAST = new ClusterPace(KubeletPace.FAST, "fast-settings.yaml", 10);
}
