package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Resource;

/** The delays of kubelets: before they report a node's status, and before they restart a container that has crashed. */
public enum KubeletPace {
    /** The defaults of kubelets: 10 s, and up to 5 min. */
    USUAL(""),
    /** Within 1 s, and 3 s: for tests, and for clusters of a few nodes. */
    FAST(Resource.text("cluster/node/kubelet-fast.yaml"));

    private final String settings;

    KubeletPace(String settings) {
        this.settings = settings;
    }

    /** Returns the text of a kubelet's configuration. */
    String configuration(String cgroup) {
        return Resource.text("cluster/node/kubelet.yaml").replace("CGROUP", cgroup) + settings;
    }
}
