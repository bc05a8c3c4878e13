package dev.gpuwarden.testkit.command;

/**
 * A command and a line of its output by which a demo checks a cluster.
 *
 * @param command a line of shell with kubectl and gpuwarden; or {@link #PAGE} and a node's name for the page of a node, or
 *     {@link #PAGE} alone for the access check of the page
 */
record ClusterDemoCheck(String command, ExpectedLine expected) {

    /** The aggregator's page. */
    static final String PAGE = "page ";

    /** A column each for the node, the cordon, taints and conditions. */
    private static final String NODES = "kubectl get nodes --output 'custom-columns=NODE:.metadata.name,"
            + "CORDONED:.spec.unschedulable,TAINTS:.spec.taints[*].key,"
            + "CONDITIONS:.status.conditions[?(@.status==\"True\")].type,"
            + "DRAIN:.metadata.labels.dgxc\\.nvidia\\.com/nvsentinel-state'";

    private static final String PODS =
            "kubectl get pods --output 'custom-columns=POD:.metadata.name,NODE:.spec.nodeName,"
                    + "PHASE:.status.phase,FIRST:.metadata.labels.first'";

    private static final String AUDIT = "kubectl logs --namespace gpuwarden --tail=-1"
            + " --selector app.kubernetes.io/name=gpuwarden-aggregator"
            + " | grep -o '\"decision\":\"drain_[^]]*' | cut -c1-250 | tail -30";

    static ClusterDemoCheck of(String command, String line) {
        return new ClusterDemoCheck(command, ExpectedLine.of(line));
    }

    /** Checks a row of the nodes' reports. */
    static ClusterDemoCheck health(String row) {
        return of("kubectl get nodehealth", "^" + row);
    }

    /** Checks a row of the Nodes. */
    static ClusterDemoCheck node(String row) {
        return of(NODES, "^" + row);
    }

    /** Checks a row of the programs' pods: node, phase, and the label of the first pods. */
    static ClusterDemoCheck pod(String row) {
        return of(PODS, "^" + row);
    }

    /** Checks a line of the aggregator's audit log about drains. */
    static ClusterDemoCheck audit(String record) {
        return of(AUDIT, "^\"decision\":\"drain_" + record);
    }

    /** Checks a line of `gpuwarden explain`. */
    static ClusterDemoCheck explain(String node, String line) {
        return of("gpuwarden explain " + node, "^" + line);
    }

    /** Checks a line of a node's page. */
    static ClusterDemoCheck page(String node, String line) {
        return of(PAGE + node, "^" + line);
    }

    /** Returns a check that the line is not shown any more. */
    ClusterDemoCheck gone() {
        return new ClusterDemoCheck(command, expected.gone());
    }

    /** Returns the title of the output. */
    String title() {
        if (!command.startsWith(PAGE)) {
            return "$ " + command;
        }
        return command.equals(PAGE)
                ? "the page, by a port-forward, answers"
                : "the page, by a port-forward and with a token, shows of " + command.substring(PAGE.length());
    }
}
