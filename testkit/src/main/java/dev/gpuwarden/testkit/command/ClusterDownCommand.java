package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.testkit.cluster.UserCluster;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Ends the user's cluster. */
@Command(
        name = "down",
        mixinStandardHelpOptions = true,
        description =
                "End the cluster and remove its files and processes, also after a kill. Succeeds where none runs.")
final class ClusterDownCommand implements Callable<Integer> {

    @Override
    public Integer call() {
        UserCluster.ofUser().end();
        return ExitCode.OK;
    }
}
