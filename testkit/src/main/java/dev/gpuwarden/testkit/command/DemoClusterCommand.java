package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.command.ClusterCommand.Up.BeforeNodes;
import dev.gpuwarden.testkit.command.StoryReader.DemoStory;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Demonstrates the program in a cluster, and checks that it detects the faults there. */
@Command(
        name = "cluster",
        mixinStandardHelpOptions = true,
        description = {
            "Show gpuwarden in a real Kubernetes cluster on this machine, with three nodes of eight simulated GPUs each:",
            "it is installed from its manifests, faults occur and are repaired, and kubectl, explain and the page show them.",
            "The cluster is removed at the end. Needs root, takes two and a half minutes."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:every step was visible within its limit",
            "1:a step was not visible; the state of the pods is shown",
            "2:a cluster cannot run here"
        })
final class DemoClusterCommand implements Callable<Integer> {

    private static final int NODES = 3;
    private static final String SCENARIO = "h100x8";

    /** A node with one GPU, which pods share. */
    private static final String SHARED = "t4";

    @Option(
            names = "--story",
            split = ",",
            paramLabel = "STORY",
            defaultValue = "faults,drain",
            description = {
                "Stories: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
                "faults: a GPU falls off the bus and comes back, while another node is cordoned by kubectl.",
                "operator: a GPU operator's pod does not start on one node, then crashes there repeatedly.",
                "drain: one of four pods on a node is evicted, then all, as far as their budgets permit.",
                "checkpoint: a pod gets a signal before its eviction, and leaves when it has saved its work.",
                "vram: three pods share a T4 on node-3; one holds more than its budget, and is evicted when another cannot start.",
                "remediation: a Job on the node resets a GPU, another reboots the node, and it returns to service by itself."
            })
    Set<DemoStory> stories = EnumSet.of(DemoStory.faults, DemoStory.drain);

    @Mixin
    BeforeNodes before = new BeforeNodes();

    @Option(
            names = "--fast",
            description = {
                "The same steps with shorter intervals: daemons sample GPUs every second, kubelets report within 1 s and",
                "restart crashed containers within 3 s, and an operator's pod may take 10 s instead of 20 s to start."
            })
    boolean fast;

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException, IOException {
        Path image = ClusterDemoEnvironment.image();
        if (before.asked) {
            return BeforeNodes.NEEDS_NODES;
        }
        Cluster.missing().ifPresent(message -> {
            throw new UserError(message);
        });
        ClusterDemoEnvironment.Pace pace = fast ? ClusterDemoEnvironment.Pace.FAST : ClusterDemoEnvironment.Pace.USUAL;
        long start = System.nanoTime();
        printLine("a cluster of " + NODES + " nodes, each with eight simulated GPUs");
        try (Cluster cluster = Cluster.start(
                Files.createTempDirectory("gpuwarden-cluster-"),
                scenarios(),
                pace.kubelets(),
                part -> printLine("ready    " + ClusterDemoEnvironment.seconds(start) + "  " + part))) {
            try (ClusterDemoEnvironment environment =
                    new ClusterDemoEnvironment(cluster, pace, image, this::printLine)) {
                boolean all = new ClusterDemoRunner(environment::output, out())
                        .run(DemoStory.of(stories, new StoryReader(pace, environment)));
                printLine(all ? "\nall steps were visible; removing the cluster" : environment.state());
                return all ? ExitCode.OK : ExitCode.NOT_FIT;
            }
        } finally {
            printLine("finished after " + ClusterDemoEnvironment.seconds(start).strip());
        }
    }

    private List<String> scenarios() {
        List<String> scenarios = new ArrayList<>(Collections.nCopies(NODES, SCENARIO));
        if (stories.contains(DemoStory.vram) || stories.contains(DemoStory.all)) {
            scenarios.set(NODES - 1, SHARED);
        }
        return scenarios;
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }

    private void printLine(String line) {
        out().println(line);
        out().flush();
    }
}
