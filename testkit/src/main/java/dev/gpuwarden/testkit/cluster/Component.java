package dev.gpuwarden.testkit.cluster;

/** What a cluster may have besides its API server. */
public enum Component {
    /** Makes the pods of Deployments, DaemonSets and Jobs, the service account `default`, ends namespaces, watches nodes. */
    CONTROLLER_MANAGER("kube-controller-manager"),

    /** Gives pods their nodes. */
    SCHEDULER("kube-scheduler");

    private final String binary;

    Component(String binary) {
        this.binary = binary;
    }

    String binary() {
        return binary;
    }
}
