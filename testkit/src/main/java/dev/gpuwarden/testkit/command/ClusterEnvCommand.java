package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.testkit.cluster.UserCluster;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints the shell's settings for the user's cluster. */
@Command(
        name = "env",
        mixinStandardHelpOptions = true,
        description = {
            "Print shell settings for the cluster, and for its kubectl where the PATH has none:",
            "  eval \"$(gpuwarden cluster env)\""
        })
final class ClusterEnvCommand implements Callable<Integer> {

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        UserCluster cluster = UserCluster.ofUser();
        cluster.need();
        spec.commandLine().getOut().println("export KUBECONFIG=" + cluster.kubeconfig());
        spec.commandLine().getOut().println("export PATH=\"$PATH:" + cluster.tools() + "\"");
        return ExitCode.OK;
    }
}
