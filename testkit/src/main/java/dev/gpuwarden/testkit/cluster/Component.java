package dev.gpuwarden.testkit.cluster;

/** An optional component of a control plane, besides its API server. */
public enum Component {
    /** Creates the pods of Deployments, DaemonSets and Jobs and the service account `default`, ends namespaces, watches nodes. */
    CONTROLLER_MANAGER("kube-controller-manager"),

    /** Assigns pods to nodes. */
    SCHEDULER("kube-scheduler");

    private final String binary;

    Component(String binary) {
        this.binary = binary;
    }

    String binary() {
        return binary;
    }
}
