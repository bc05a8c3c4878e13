package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.testkit.cluster.UserCluster;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Shows the nodes of the user's cluster. */
@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        description = "Show the nodes of the cluster from its API server.",
        exitCodeListHeading = "%nExit code:%n",
        exitCodeList = {"0:all nodes are Ready", "1:one is not, or the API server does not answer", "2:no cluster runs"
        })
final class ClusterStatusCommand implements Callable<Integer> {

    @Mixin
    Output output = new Output();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        UserCluster cluster = UserCluster.ofUser();
        cluster.need();
        List<UserCluster.NodeState> nodes = cluster.states();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("kubeconfig", cluster.kubeconfig().toString());
        tree.put("nodes", nodes.stream().map(ClusterStatusCommand::tree).toList());
        Table table = new Table("NODE", "READY", "ADDRESS", "SIMULATED GPUS");
        nodes.forEach(node -> table.row(node.name(), node.ready(), node.address(), node.gpus()));
        output.write(spec.commandLine().getOut(), tree, table::print);
        return nodes.stream().allMatch(node -> node.ready().equals("True")) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    private static Map<String, Object> tree(UserCluster.NodeState node) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", node.name());
        tree.put("ready", node.ready());
        tree.put("address", node.address());
        tree.put("simulatedGpus", node.gpus().toString());
        return tree;
    }
}
