package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.cluster.UserCluster;
import dev.gpuwarden.testkit.sim.NodeControl;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Injects a fault into a node of the user's cluster. */
@Command(
        name = "inject",
        mixinStandardHelpOptions = true,
        description = {
            "Inject a fault into a node: KEY=VALUE as for `sim set`, or a line of its kernel log as for `sim log`.",
            "  gpuwarden cluster inject node-1 xid=79 --gpu 4",
            "  gpuwarden cluster inject node-1 gpu.all.temperature=95C",
            "  gpuwarden cluster inject node-2 'NVRM: Xid (PCI:{gpu.3}): 31, pid=4711, name=python3'"
        })
final class ClusterInjectCommand implements Callable<Integer> {

    private static final Pattern CHANGE = Pattern.compile("([a-z][a-z0-9.-]*)=(.*)", Pattern.DOTALL);

    @Parameters(index = "0", paramLabel = "NODE", description = "Name of the node, as in `cluster status`.")
    String node = "";

    @Parameters(index = "1", paramLabel = "FAULT", description = "KEY=VALUE, or a line.")
    String fault = "";

    @Option(names = "--gpu", paramLabel = "N", description = "The GPU of a KEY, instead of gpu.N. before the key.")
    @Nullable Integer gpu;

    @Override
    public Integer call() {
        UserCluster cluster = UserCluster.ofUser();
        cluster.need();
        NodeControl control = NodeControl.open(cluster.gpus(node));
        Matcher change = CHANGE.matcher(fault);
        if (change.matches()) {
            String of = gpu == null ? "" : "gpu." + gpu + ".";
            control.set(of + change.group(1), change.group(2));
        } else if (gpu == null) {
            control.log(false, List.of(fault));
        } else {
            throw new UserError(
                    "\"" + fault + "\": expected KEY=VALUE with --gpu; a line names its GPU as {gpu." + gpu + "}");
        }
        return ExitCode.OK;
    }
}
