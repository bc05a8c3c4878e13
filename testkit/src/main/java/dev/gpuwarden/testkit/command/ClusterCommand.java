package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.run.SameProgram;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.KubeletPace;
import dev.gpuwarden.testkit.cluster.UserCluster;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NativeFiles;
import dev.gpuwarden.testkit.sim.NodeControl;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A Kubernetes cluster on this machine. */
@Command(
        name = "cluster",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = {
            "A real Kubernetes cluster on this machine: kubelet and containerd on every node, with simulated GPUs.",
            "Needs root. The image localhost/busybox:1 is on every node; nothing comes from a registry.",
            "  sudo ./gpuwarden cluster up --nodes 3",
            "  eval \"$(sudo ./gpuwarden cluster env)\"",
            "  sudo ./gpuwarden cluster inject node-1 xid=79 --gpu 4",
            "  sudo ./gpuwarden cluster down"
        },
        subcommands = {
            ClusterCommand.Up.class,
            ClusterCommand.Status.class,
            ClusterCommand.Env.class,
            ClusterCommand.Inject.class,
            ClusterCommand.Down.class,
            ClusterCommand.Hold.class
        })
final class ClusterCommand {

    /** Ends the user's cluster. */
    @Command(
            name = "down",
            mixinStandardHelpOptions = true,
            description =
                    "End the cluster and remove its files and processes, also after a kill. Succeeds where none runs.")
    static final class Down implements Callable<Integer> {

        @Override
        public Integer call() {
            UserCluster.ofUser().end();
            return ExitCode.OK;
        }
    }

    /** Prints the shell's settings for the user's cluster. */
    @Command(
            name = "env",
            mixinStandardHelpOptions = true,
            description = {
                "Print shell settings for the cluster, and for its kubectl where the PATH has none:",
                "  eval \"$(gpuwarden cluster env)\""
            })
    static final class Env implements Callable<Integer> {

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
    static final class Inject implements Callable<Integer> {

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

    /** Shows the nodes of the user's cluster. */
    @Command(
            name = "status",
            mixinStandardHelpOptions = true,
            description = "Show the nodes of the cluster from its API server.",
            exitCodeListHeading = "%nExit code:%n",
            exitCodeList = {
                "0:all nodes are Ready",
                "1:one is not, or the API server does not answer",
                "2:no cluster runs"
            })
    static final class Status implements Callable<Integer> {

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
            tree.put("nodes", nodes.stream().map(Status::tree).toList());
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

    /** Holds the user's cluster until a signal: the background process of `cluster up`. */
    @Command(
            name = "hold",
            hidden = true,
            mixinStandardHelpOptions = true,
            description = "Holds a cluster for `cluster up`.")
    static final class Hold implements Callable<Integer> {

        @Option(names = "--nodes", required = true)
        int nodes;

        @Option(names = "--scenario", required = true)
        String scenario = "";

        @Spec
        CommandSpec spec = CommandSpec.create();

        @Override
        public Integer call() throws InterruptedException {
            UserCluster its = UserCluster.ofUser();
            PrintWriter out = spec.commandLine().getOut();
            its.note(false);
            long start = System.nanoTime();
            Cluster cluster =
                    Cluster.start(its.parts(), Collections.nCopies(nodes, scenario), KubeletPace.USUAL, part -> {
                        out.println(String.format(Locale.ROOT, "%5.1f s  %s", (System.nanoTime() - start) / 1e9, part));
                        out.flush();
                    });
            Runtime.getRuntime().addShutdownHook(new Thread(cluster::close));
            its.note(true);
            // The next `cluster up` then starts another; a cluster outlives nodes that are killed.
            cluster.whenControlPlaneEnds(part -> {
                its.note(false);
                out.println(part + " has ended");
                out.flush();
            });
            new CountDownLatch(1).await();
            return ExitCode.OK;
        }
    }

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
    static final class Up implements Callable<Integer> {

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
                description =
                        "Scenario of each node: a name from `sim list`, or a .yaml file. Default: ${DEFAULT-VALUE}.")
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
}
