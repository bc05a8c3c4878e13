package dev.gpuwarden.testkit.command;

import static dev.gpuwarden.testkit.command.ClusterDemoCheck.explain;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.health;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.node;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.page;

import java.util.List;

/** A pod of a GPU operator does not start on one node within its limit. */
final class OperatorStory {

    private static final String DRIVER = "nvidia.com/gpu.deploy.driver=true";

    private OperatorStory() {}

    static List<ClusterDemoStep> of(ClusterDemoEnvironment environment) {
        String patience = environment.pace().operatorSeconds() + " s";
        return List.of(
                ClusterDemoStep.of(
                        "the shipped policies define when an operator's pod is a fault; here after " + patience
                                + " instead of 30 minutes",
                        30,
                        () -> environment.run("sed \"s/duration('30m')/duration('" + patience.replace(" ", "")
                                + "')/\" kubernetes/monitor-policies.yaml"
                                + " | kubectl apply --filename -"),
                        ClusterDemoCheck.of("kubectl get monitorpolicies", "^gpu-operator-pods-health +True +Ready")),
                ClusterDemoStep.of(
                        "a GPU operator (its images are busybox) validates the driver of each node; that of node-2 does not come",
                        15,
                        () -> {
                            environment.run("kubectl label nodes node-1 node-3 " + DRIVER);
                            environment.apply("gpu-operator.yaml");
                        },
                        validator("node-1 +Running"),
                        validator("node-2 +Pending"),
                        validator("node-3 +Running"),
                        node("node-2 +<none> ")),
                ClusterDemoStep.of(
                        "the validator of node-2 has waited for more than " + patience,
                        40,
                        () -> {},
                        health("node-2 +Faulty .*gpu-operator-pods-health"),
                        health("node-1 +Healthy +0 "),
                        node("node-2 +true .*gpu-operator-pods-health"),
                        node("node-1 +<none> "),
                        node("node-3 +<none> "),
                        page("node-2", "state: quarantined"),
                        page("node-2", "- kubernetes-object-fatal"),
                        page("node-2", " +value: gpu-operator/nvidia-operator-validator-"),
                        explain("node-2", "rules +kubernetes-object-fatal"),
                        explain(
                                "node-2",
                                "gpu-operator-pods-health +GPU_OPERATOR_POD_UNHEALTHY"
                                        + " .*gpu-operator/nvidia-operator-validator-.* fatal .* contact-support"),
                        explain(
                                "node-2",
                                "FATAL +gpu-operator-pods-health +GPU Operator DaemonSet pod is not healthy")),
                ClusterDemoStep.of(
                        "node-2 gets its driver",
                        60,
                        () -> environment.run("kubectl label nodes node-2 " + DRIVER),
                        validator("node-2 +Running"),
                        node("node-2 +<none> +<none> +Ready +<none>$"),
                        health("node-2 .*gpu-operator-pods-health").gone(),
                        page("node-2", "state: healthy"),
                        explain("node-2", "state +healthy"),
                        explain("node-2", "no faults")),
                ClusterDemoStep.of(
                        "node-2 loses its driver: the validator ends after two seconds, again and again, and the node stays"
                                + " out of service while it tries once more",
                        60,
                        () -> {
                            environment.run("kubectl delete events --field-selector reason=ReturnedToService");
                            environment.run("kubectl label nodes node-2 nvidia.com/gpu.deploy.driver-");
                        },
                        // It has run once more since it had to wait, and ended again.
                        validator("node-2 +Running +([2-9]|\\d\\d) +false"),
                        node("node-2 +true .*gpu-operator-pods-health"),
                        page("node-2", "state: quarantined"),
                        explain("node-2", ".* ReturnedToService ").gone()),
                ClusterDemoStep.of(
                        "node-2 gets its driver back, and the validator has run for longer than it did before",
                        90,
                        () -> environment.run("kubectl label nodes node-2 " + DRIVER),
                        validator("node-2 +Running +([2-9]|\\d\\d) +true"),
                        node("node-2 +<none> +<none> +Ready +<none>$"),
                        explain("node-2", "state +healthy")),
                ClusterDemoStep.of(
                        "the operator is taken away",
                        30,
                        () -> {
                            environment.run("kubectl delete namespace gpu-operator --wait=false");
                            environment.run("kubectl delete monitorpolicies --all");
                        },
                        node("node-2 +<none> ")));
    }

    private static ClusterDemoCheck validator(String row) {
        return ClusterDemoCheck.of(
                "kubectl get pods --namespace gpu-operator --selector app=nvidia-operator-validator"
                        + " --output 'custom-columns=NODE:.spec.nodeName,PHASE:.status.phase,"
                        + "RESTARTS:.status.containerStatuses[0].restartCount,"
                        + "READY:.status.containerStatuses[0].ready,POD:.metadata.name'",
                "^" + row);
    }
}
