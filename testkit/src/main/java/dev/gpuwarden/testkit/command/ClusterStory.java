package dev.gpuwarden.testkit.command;

import java.time.Duration;
import java.util.List;

/** What happens on a cluster of three nodes. */
final class ClusterStory {

    private static final List<String> HEALTH = List.of("get", "nodehealth");
    private static final List<String> NODES = List.of(
            "get",
            "nodes",
            "--output=custom-columns=NODE:.metadata.name,CORDONED:.spec.unschedulable,TAINTS:.spec.taints[*].key,"
                    + "CONDITIONS:.status.conditions[?(@.status==\"True\")].type");

    private static final List<String> HOLDERS = List.of(
            "get",
            "nodehealth",
            "--output=custom-columns=NODE:.metadata.name,PODS:.status.holdings.holders[*].pod,"
                    + "KIND:.status.holdings.holders[*].kind,UNLISTED:.status.holdings.unlistedCount");

    private static final List<String> DRAINS = List.of(
            "get",
            "nodes",
            "--output=custom-columns=NODE:.metadata.name,CORDONED:.spec.unschedulable,"
                    + "STATE:.metadata.labels.dgxc\\.nvidia\\.com/nvsentinel-state");

    private static final List<String> PODS =
            List.of("get", "pods", "--output=custom-columns=POD:.metadata.name,PHASE:.status.phase");

    private ClusterStory() {}

    static List<ClusterAct> of(ClusterStage stage) {
        return List.of(
                act("the nodes are given a container image, which comes from no registry", 0, stage::loadImage),
                act(
                        "aggregator and daemons are installed, and nodes report",
                        120,
                        stage::install,
                        health("node-1 +Healthy"),
                        health("node-2 +Healthy"),
                        health("node-3 +Healthy")),
                act(
                        "rules say which faults take a node out of service; a label, which nodes the breaker counts",
                        30,
                        stage::arm,
                        new DemoLook(List.of("get", "quarantinerulesets"), DemoSign.of("^syslog-fatal .*True"))),
                act(
                        "a pod gets two GPUs of node-1; the node is asked who holds its GPUs",
                        30,
                        stage::train,
                        new DemoLook(HOLDERS, DemoSign.of("^node-1 +trainer,trainer +Exclusive,Exclusive +0$"))),
                act(
                        "an administrator takes node-3 out of service",
                        10,
                        () -> stage.kubectl(List.of("cordon", "node-3")),
                        node("node-3 +true ")),
                act(
                        "GPU 4 of node-2 falls off the bus (XID 79)",
                        15,
                        () -> {
                            stage.set("node-2", "gpu.4.state", "lost");
                            stage.set("node-2", "gpu.4.xid", "79");
                        },
                        // Two faults tell of it, the kernel log's and the driver's; either may be the first.
                        health("node-2 +Faulty .*RESTART_BM"),
                        health("node-1 +Healthy"),
                        node("node-2 +true .*SysLogsXIDError"),
                        node("node-1 +<none> +<none> +Ready$")),
                act(
                        "GPU 4 is found on the bus again, and reset",
                        60,
                        () -> {
                            stage.set("node-2", "gpu.4.on-bus", "no");
                            stage.set("node-2", "gpu.4.on-bus", "yes");
                            stage.set("node-2", "gpu.4.reset", "yes");
                        },
                        health("node-2 +Healthy"),
                        node("node-2 +<none> +<none> +Ready$"),
                        // What people did is theirs.
                        node("node-3 +true ")),
                act(
                        "three pods more get a GPU each of node-1",
                        60,
                        stage::join,
                        pods("one +Running"),
                        pods("two +Running"),
                        pods("three +Running")),
                act(
                        "a GPU of the trainer's has an uncorrectable memory error (XID 48): it leaves, the others run on",
                        60,
                        () -> stage.setTrainers("xid", "48"),
                        health("node-1 +Faulty .*COMPONENT_RESET"),
                        new DemoLook(DRAINS, DemoSign.of("^node-1 +true +drain-succeeded")),
                        new DemoLook(PODS, DemoSign.of("^trainer ").gone()),
                        pods("one +Running"),
                        pods("two +Running"),
                        pods("three +Running")),
                act(
                        "that GPU is reset",
                        60,
                        () -> stage.setTrainers("reset", "yes"),
                        health("node-1 +Healthy"),
                        new DemoLook(DRAINS, DemoSign.of("^node-1 +<none> +<none>")),
                        pods("three +Running")));
    }

    private static ClusterAct act(String what, int limitSeconds, Runnable doing, DemoLook... looks) {
        return new ClusterAct(what, doing, List.of(looks), Duration.ofSeconds(limitSeconds));
    }

    private static DemoLook health(String row) {
        return new DemoLook(HEALTH, DemoSign.of("^" + row));
    }

    private static DemoLook pods(String row) {
        return new DemoLook(PODS, DemoSign.of("^" + row));
    }

    private static DemoLook node(String row) {
        return new DemoLook(NODES, DemoSign.of("^" + row));
    }
}
