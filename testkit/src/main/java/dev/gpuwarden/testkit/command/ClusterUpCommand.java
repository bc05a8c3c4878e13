package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.UserCluster;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NativeFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Starts the user's cluster. */
@Command(
        name = "up",
        mixinStandardHelpOptions = true,
        description = {
            "Start a cluster, and return when all its nodes are Ready. It runs until `cluster down`.",
            "The remains of a cluster that was killed are removed first."
        },
        exitCodeListHeading = "%nExit code:%n",
        exitCodeList = {
            "0:the cluster runs",
            "1:a component did not start; the end of its log is shown",
            "2:a cluster cannot run here, or one runs already"
        })
final class ClusterUpCommand implements Callable<Integer> {

    private static final long POLL_MILLIS = 100;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "1",
            description = "Number of nodes. Default: ${DEFAULT-VALUE}.")
    int nodes;

    @Option(
            names = "--scenario",
            paramLabel = "SCENARIO",
            defaultValue = "h100x8",
            description = "Scenario of each node: a name from `sim list`, or a .yaml file. Default: ${DEFAULT-VALUE}.")
    String scenario = "";

    @Mixin
    BeforeNodes before = new BeforeNodes();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException, IOException {
        if (nodes < 1) {
            throw new UserError("--nodes: expected 1 or more, seen " + nodes);
        }
        Scenarios.find(scenario, NativeFiles.find().vocabulary());
        UserCluster cluster = UserCluster.ofUser();
        if (cluster.ready()) {
            throw new UserError("a cluster with " + String.join(", ", cluster.nodes())
                    + " runs; see `gpuwarden cluster status`, end it with `gpuwarden cluster down`");
        }
        if (before.asked) {
            return BeforeNodes.NEEDS_NODES;
        }
        Cluster.missing().ifPresent(message -> {
            throw new UserError(message);
        });
        cluster.end();
        cluster.claim();
        Thread onSignal = new Thread(cluster::end);
        Runtime.getRuntime().addShutdownHook(onSignal);
        Process holder = hold(cluster);
        boolean ready = follow(cluster, holder);
        Runtime.getRuntime().removeShutdownHook(onSignal);
        PrintWriter out = spec.commandLine().getOut();
        if (!ready) {
            cluster.end();
            return ExitCode.NOT_FIT;
        }
        out.println("export KUBECONFIG=" + cluster.kubeconfig());
        return ExitCode.OK;
    }

    /** Starts the holder in a session of its own, which gets no signals of the terminal. */
    private Process hold(UserCluster cluster) {
        ProcessBuilder builder = SameProgram.run(
                Map.of(), "cluster", "hold", "--nodes", Integer.toString(nodes), "--scenario", scenario);
        builder.command().add(0, "setsid");
        return Unchecked.get(() -> builder.redirectErrorStream(true)
                .redirectOutput(cluster.log().toFile())
                .start());
    }

    /** Prints the holder's output until the cluster is ready or the holder ends; returns true for ready. */
    private boolean follow(UserCluster cluster, Process holder) throws InterruptedException, IOException {
        PrintWriter err = spec.commandLine().getErr();
        int shown = 0;
        while (true) {
            boolean ended = holder.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
            boolean ready = cluster.ready();
            List<String> lines = Files.readAllLines(cluster.log());
            lines.subList(shown, lines.size()).forEach(err::println);
            err.flush();
            shown = lines.size();
            if (ready || ended) {
                return ready;
            }
        }
    }

    /**
     * A hidden option of the source tree's start script, which checks with it whether a command line needs real nodes before it builds
     * their programs. Help and usage errors stay as they are; a command that would start a cluster ends with a code of its own instead.
     */
    static final class BeforeNodes {

        /** The exit code of a command line that would start a cluster; the start script expects it. */
        static final int NEEDS_NODES = 10;

        @Option(names = "--before-nodes", hidden = true)
        boolean asked;
    }
}
