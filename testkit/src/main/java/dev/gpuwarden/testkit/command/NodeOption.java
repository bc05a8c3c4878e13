package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.sim.RunningNodes;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that selects a running simulated node. */
final class NodeOption {

    @Option(
            names = "--node",
            paramLabel = "DIR",
            defaultValue = "${env:GPUWARDEN_SIM_NODE}",
            description = "The node's folder. Needed only when several nodes run, and not below `sim exec`.")
    @Nullable Path node;

    Path root() {
        Path root = node == null || node.toString().isEmpty()
                ? RunningNodes.ofUser().only()
                : node;
        if (!Files.isDirectory(root.resolve("lib"))) {
            throw new UserError(root + ": expected the folder of a simulated node");
        }
        return root;
    }
}
