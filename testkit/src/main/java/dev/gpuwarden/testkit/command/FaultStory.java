package dev.gpuwarden.testkit.command;

import static dev.gpuwarden.testkit.command.ClusterLook.explain;
import static dev.gpuwarden.testkit.command.ClusterLook.health;
import static dev.gpuwarden.testkit.command.ClusterLook.node;
import static dev.gpuwarden.testkit.command.ClusterLook.page;

import java.util.List;

/** A GPU falls off the bus and comes back, while somebody works on another node. */
final class FaultStory {

    private FaultStory() {}

    static List<ClusterAct> of(ClusterStage stage) {
        return List.of(
                ClusterAct.of(
                        "an administrator takes node-3 out of service",
                        10,
                        () -> stage.run("kubectl cordon node-3"),
                        node("node-3 +true "),
                        explain("node-3", "cordon +by somebody, with kubectl")),
                ClusterAct.of(
                        "GPU 4 of node-2 falls off the bus (XID 79)",
                        15,
                        () -> stage.set("node-2", 4, "state=lost", "xid=79"),
                        // Two faults tell of it, the kernel log's and the driver's; either may be the first.
                        health("node-2 +Faulty .*RESTART_BM"),
                        health("node-1 +Healthy"),
                        node("node-2 +true .*SysLogsXIDError"),
                        node("node-1 +<none> +<none> +Ready +<none>$"),
                        page("node-2", "state: quarantined"),
                        explain("node-2", "state +quarantined"),
                        explain("node-2", "SysLogsXIDError +79 .* fatal .* restart-bm")),
                ClusterAct.of(
                        "GPU 4 is found on the bus again, and reset",
                        60,
                        () -> stage.set("node-2", 4, "on-bus=no", "on-bus=yes", "reset=yes"),
                        health("node-2 +Healthy"),
                        node("node-2 +<none> +<none> +Ready +<none>$"),
                        // What people did is theirs.
                        node("node-3 +true "),
                        page("node-2", "state: healthy"),
                        explain("node-2", "state +healthy")),
                ClusterAct.of(
                        "the administrator is done with node-3",
                        10,
                        () -> stage.run("kubectl uncordon node-3"),
                        node("node-3 +<none> ")));
    }
}
