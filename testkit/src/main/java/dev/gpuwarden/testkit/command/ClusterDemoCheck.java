package dev.gpuwarden.testkit.command;

/**
 * What a person would look with, and what it must show.
 *
 * @param command a line of shell, in which kubectl and gpuwarden ask the cluster; or {@link #PAGE}, and a
 *     node's name for what it shows of it, none for whom it lets in
 */
record ClusterDemoCheck(String command, ExpectedLine expected) {

    /** The aggregator's page. */
    static final String PAGE = "page ";

    /** A column each for the node, whether it takes no pods, its taints and conditions. */
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

    /** How nodes are, as they have told. */
    static ClusterDemoCheck health(String row) {
        return of("kubectl get nodehealth", "^" + row);
    }

    /** Whether they are in service. */
    static ClusterDemoCheck node(String row) {
        return of(NODES, "^" + row);
    }

    /** Pods of programs, where they run, and whether they are those of the beginning. */
    static ClusterDemoCheck pod(String row) {
        return of(PODS, "^" + row);
    }

    /** What the aggregator has recorded of drains. */
    static ClusterDemoCheck audit(String record) {
        return of(AUDIT, "^\"decision\":\"drain_" + record);
    }

    /** All that there is to say of a node. */
    static ClusterDemoCheck explain(String node, String line) {
        return of("gpuwarden explain " + node, "^" + line);
    }

    /** What the page shows of a node. */
    static ClusterDemoCheck page(String node, String line) {
        return of(PAGE + node, "^" + line);
    }

    /** The same must not be shown any more. */
    ClusterDemoCheck gone() {
        return new ClusterDemoCheck(command, expected.gone());
    }

    /** For whoever reads what is shown. */
    String title() {
        if (!command.startsWith(PAGE)) {
            return "$ " + command;
        }
        return command.equals(PAGE)
                ? "the page, by a port-forward, answers"
                : "the page, by a port-forward and with a token, says of " + command.substring(PAGE.length());
    }
}
