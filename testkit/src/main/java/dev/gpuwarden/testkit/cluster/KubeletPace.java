package dev.gpuwarden.testkit.cluster;

/** How soon kubelets do what can wait: report a node's status, restart a container that crashes. */
public enum KubeletPace {
    /** As kubelets for which nothing is set: 10 s, and up to 5 min. */
    USUAL(""),
    /** Within 1 s, and 3 s: for tests, and for clusters of a few nodes. */
    FAST(Resource.text("node/kubelet-fast.yaml"));

    private final String settings;

    KubeletPace(String settings) {
        this.settings = settings;
    }

    /** Text of a kubelet's configuration. */
    String configuration(String cgroup) {
        return Resource.text("node/kubelet.yaml").replace("CGROUP", cgroup) + settings;
    }
}
