package dev.gpuwarden.testkit.command;

import static dev.gpuwarden.testkit.command.ClusterDemoCheck.audit;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.explain;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.health;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.node;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.page;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.pod;

import java.time.Instant;
import java.util.List;

/**
 * Four pods hold GPUs of node-1: shows which of them are evicted, when, and what delays them. Their Deployments start them again, and
 * wait for node-1.
 */
final class DrainStory {

    private static final String HOLDERS = "kubectl get nodehealth node-1 --output"
            + " 'custom-columns=NODE:.metadata.name,PODS:.status.holdings.holders[*].pod,"
            + "KIND:.status.holdings.holders[*].kind,UNLISTED:.status.holdings.unlistedCount'";

    /** Counts of eviction requests, from the API server. */
    private static final String EVICTIONS =
            "kubectl get --raw /metrics | grep '^apiserver_request_total.*subresource=\"eviction\"'";

    private static final String RUNS = " +node-1 +Running +";
    private static final String WAITS = " +<none> +Pending +<none>$";

    private DrainStory() {}

    static List<ClusterDemoStep> of(ClusterDemoEnvironment environment) {
        return List.of(
                ClusterDemoStep.of(
                        "three programs get GPUs of node-1, in four pods: a trainer two, batch one, serving one in each of two",
                        30,
                        () -> {
                            environment.apply("programs.yaml");
                            environment.run("kubectl wait --for=condition=Available --timeout=2m"
                                    + " deployment/trainer deployment/batch deployment/serving");
                            environment.run("kubectl label pods --selector node=node-1 first=yes");
                            environment.run("kubectl patch nodehealth node-1 --type=merge"
                                    + " --patch '{\"spec\":{\"lookup\":{\"id\":\"demo\",\"requested\":\""
                                    + Instant.now()
                                    + "\"}}}'");
                        },
                        ClusterDemoCheck.of(
                                HOLDERS, "^node-1 +(?=\\S*trainer.*trainer)(?=\\S*serving)(?=\\S*batch)\\S+ .* 0$"),
                        pod("trainer-\\S+" + RUNS + "yes")),
                ClusterDemoStep.of(
                        "a GPU of the trainer's has an uncorrectable memory error (XID 48): the trainer is to leave, and its"
                                + " PodDisruptionBudget refuses",
                        30,
                        () -> environment.setGpuOf("trainer", "xid=48"),
                        health("node-1 +Faulty .*COMPONENT_RESET"),
                        node("node-1 +true .* draining$"),
                        all("yes"),
                        ClusterDemoCheck.of(EVICTIONS, "^.*code=\"429\".* [1-9][0-9]*$"),
                        audit("refused\",\"reason\":\".*disruption budget trainer .*default/trainer-"),
                        page("node-1", "  left: 1"),
                        page("node-1", "- decision: drain_refused"),
                        explain(
                                "node-1",
                                "drain +being drained of the pods of GPU-\\S+ for .* 1 pod left: default/trainer-\\S+: .*"
                                        + "disruption budget trainer ")),
                ClusterDemoStep.of(
                        "the trainer runs on node-2 too, so its budget permits: it leaves, and the other three run on",
                        60,
                        () -> environment.apply("second-trainer.yaml"),
                        node("node-1 +true .* drain-succeeded$"),
                        pod("trainer-\\S+" + WAITS),
                        pod("batch-\\S+" + RUNS + "yes"),
                        serving("yes"),
                        audit("evicted\",.*default/trainer-"),
                        audit("evict\\S*\",.*default/(batch|serving)-").gone(),
                        page("node-1", "  finished: \\S+"),
                        explain("node-1", "drain +drained of the pods of GPU-"),
                        explain("node-1", ".* DrainBlocked .* The disruption budget trainer "),
                        explain("node-1", ".* Drained .* drained of the pods of GPU-")),
                ClusterDemoStep.of(
                        "that GPU is reset, and the trainer comes back",
                        60,
                        () -> environment.setSame("reset=yes"),
                        health("node-1 +Healthy"),
                        node("node-1 +<none> +<none> +Ready +<none>$"),
                        pod("trainer-\\S+" + RUNS + "<none>"),
                        explain("node-1", "state +healthy")),
                ClusterDemoStep.of(
                        "the GPU of batch falls off the bus (XID 79): all four are to leave, and serving's budget holds two",
                        60,
                        () -> environment.setGpuOf("batch", "state=lost", "xid=79"),
                        health("node-1 +Faulty .*RESTART_BM"),
                        pod("trainer-\\S+" + WAITS),
                        pod("batch-\\S+" + WAITS),
                        serving("yes"),
                        page("node-1", "  left: 2"),
                        explain(
                                "node-1",
                                "drain +being drained of all pods for .* 2 pods left: .*disruption budget serving ")),
                ClusterDemoStep.of(
                        "an administrator takes node-1 back into service in spite of that: the two run on, the others come back",
                        60,
                        () -> environment.run("gpuwarden release node-1"),
                        node("node-1 +<none> +<none> +\\S+ +<none>$"),
                        pod("trainer-\\S+" + RUNS + "<none>"),
                        pod("batch-\\S+" + RUNS + "<none>"),
                        serving("yes"),
                        audit("cancel\""),
                        audit("evicted\",.*default/serving-").gone(),
                        page("node-1", "cause: overridden"),
                        page("node-1", "drain: null"),
                        explain("node-1", "state +faulty")),
                ClusterDemoStep.of(
                        "the GPU is found on the bus again, and reset; serving gives its budget up",
                        60,
                        () -> {
                            environment.setSame("on-bus=no", "on-bus=yes", "reset=yes");
                            environment.run("kubectl delete poddisruptionbudget serving");
                        },
                        health("node-1 +Healthy"),
                        explain("node-1", "state +healthy")),
                ClusterDemoStep.of(
                        "a GPU of the trainer's falls off the bus (XID 79): now all four leave",
                        60,
                        () -> environment.setGpuOf("trainer", "state=lost", "xid=79"),
                        node("node-1 +true .* drain-succeeded$"),
                        pod("trainer-\\S+" + WAITS),
                        pod("batch-\\S+" + WAITS),
                        serving(WAITS, ""),
                        pod("\\S+" + RUNS).gone(),
                        page("node-1", "  finished: \\S+"),
                        explain("node-1", "drain +drained of all pods")),
                ClusterDemoStep.of(
                        "that GPU is found on the bus again, and reset: node-1 is in service, and all four are back",
                        60,
                        () -> environment.setSame("on-bus=no", "on-bus=yes", "reset=yes"),
                        health("node-1 +Healthy"),
                        node("node-1 +<none> +<none> +Ready +<none>$"),
                        pod("trainer-\\S+" + RUNS),
                        pod("batch-\\S+" + RUNS),
                        serving("<none>"),
                        page("node-1", "state: healthy"),
                        explain("node-1", "state +healthy")));
    }

    private static ClusterDemoCheck serving(String first) {
        return serving(RUNS, first + "$");
    }

    /** Checks both pods of the program `serving`. */
    private static ClusterDemoCheck serving(String where, String first) {
        String row = "serving-\\S+" + where + first;
        return pod(row + "\\n" + row);
    }

    /** Checks the four pods of the beginning. */
    private static ClusterDemoCheck all(String first) {
        String end = "-\\S+" + RUNS + first + "\\n";
        return pod("batch" + end + "serving" + end + "serving" + end + "trainer-\\S+" + RUNS + first + "$");
    }
}
