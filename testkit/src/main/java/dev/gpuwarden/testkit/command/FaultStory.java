package dev.gpuwarden.testkit.command;

import static dev.gpuwarden.testkit.command.ClusterDemoCheck.explain;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.health;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.node;
import static dev.gpuwarden.testkit.command.ClusterDemoCheck.page;

import java.util.List;

/** A GPU falls off the bus and comes back, while another node is cordoned by kubectl. */
final class FaultStory {

    private FaultStory() {}

    static List<ClusterDemoStep> of(ClusterDemoEnvironment environment) {
        return List.of(
                ClusterDemoStep.of(
                        "an administrator takes node-3 out of service",
                        10,
                        () -> environment.run("kubectl cordon node-3"),
                        node("node-3 +true "),
                        explain("node-3", "cordon +by another writer, with kubectl")),
                ClusterDemoStep.of(
                        "GPU 4 of node-2 falls off the bus (XID 79)",
                        15,
                        () -> environment.set("node-2", 4, "state=lost", "xid=79"),
                        // Two faults report it, the kernel log's and the driver's; either may be the first.
                        health("node-2 +Faulty .*RESTART_BM"),
                        health("node-1 +Healthy"),
                        node("node-2 +true .*SysLogsXIDError"),
                        node("node-1 +<none> +<none> +Ready +<none>$"),
                        page("node-2", "state: quarantined"),
                        explain("node-2", "state +quarantined"),
                        explain("node-2", "SysLogsXIDError +79 .* fatal .* restart-bm")),
                ClusterDemoStep.of(
                        "GPU 4 is found on the bus again, and reset",
                        60,
                        () -> environment.set("node-2", 4, "on-bus=no", "on-bus=yes", "reset=yes"),
                        health("node-2 +Healthy"),
                        node("node-2 +<none> +<none> +Ready +<none>$"),
                        // A manual cordon stays.
                        node("node-3 +true "),
                        page("node-2", "state: healthy"),
                        explain("node-2", "state +healthy")),
                ClusterDemoStep.of(
                        "the administrator is done with node-3",
                        10,
                        () -> environment.run("kubectl uncordon node-3"),
                        node("node-3 +<none> ")));
    }
}
