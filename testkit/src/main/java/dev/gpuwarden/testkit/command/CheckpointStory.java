package dev.gpuwarden.testkit.command;

import static dev.gpuwarden.testkit.command.ClusterDemoCheck.audit;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.explain;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.health;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.node;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.page;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.pod;

import java.util.List;

/** A program that requests it gets a signal before its eviction from node-1, and leaves when it has saved its work. */
final class CheckpointStory {

    private static final String LOG = "kubectl logs deployment/saver";

    private CheckpointStory() {}

    static List<ClusterDemoStep> of(ClusterDemoEnvironment environment) {
        return List.of(
                ClusterDemoStep.of(
                        "a program gets a GPU of node-1, and requests SIGUSR1 and five minutes before its end",
                        30,
                        () -> {
                            environment.apply("saver.yaml");
                            environment.run("kubectl wait --for=condition=Available --timeout=2m deployment/saver");
                        },
                        pod("saver-\\S+ +node-1 +Running ")),
                ClusterDemoStep.of(
                        "that GPU has an uncorrectable memory error (XID 48): the program gets the signal, and saves its work",
                        30,
                        () -> environment.setGpuOf("saver", "xid=48"),
                        health("node-1 +Faulty .*COMPONENT_RESET"),
                        ClusterDemoCheck.of(LOG, "^saving$"),
                        audit("signalled\".*default/saver-"),
                        page("node-1", "  left: 1"),
                        explain(
                                "node-1",
                                "drain +being drained of the pods of GPU-\\S+ for .* 1 pod left: default/saver-\\S+:"
                                        + " SIGUSR1 was sent at "),
                        pod("saver-\\S+ +node-1 +Running ")),
                ClusterDemoStep.of(
                        "it has saved its work and ends, and is evicted",
                        30,
                        () -> environment.run("kubectl exec deployment/saver -- touch /saved"),
                        audit("evict\",\"reason\":\"SIGUSR1 was sent at \\S+, and its containers have ended\".*"
                                + "default/saver-"),
                        node("node-1 +true .* drain-succeeded$"),
                        pod("saver-\\S+ +<none> +Pending "),
                        explain("node-1", "drain +drained of the pods of GPU-")),
                ClusterDemoStep.of(
                        "that GPU is reset, and the program comes back",
                        60,
                        () -> environment.setSame("reset=yes"),
                        health("node-1 +Healthy"),
                        node("node-1 +<none> +<none> +Ready +<none>$"),
                        pod("saver-\\S+ +node-1 +Running "),
                        explain("node-1", "state +healthy")),
                ClusterDemoStep.of(
                        "the program is not needed any more",
                        60,
                        () -> environment.run("kubectl delete --wait=true deployment saver"),
                        pod("saver-").gone()));
    }
}
