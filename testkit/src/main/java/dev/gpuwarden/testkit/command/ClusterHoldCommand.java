package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.KubeletPace;
import dev.gpuwarden.testkit.cluster.UserCluster;
import java.io.PrintWriter;
import java.util.Collections;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Holds the user's cluster until a signal: the background process of `cluster up`. */
@Command(name = "hold", hidden = true, description = "Holds a cluster for `cluster up`.")
final class ClusterHoldCommand implements Callable<Integer> {

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
        Cluster cluster = Cluster.start(its.parts(), Collections.nCopies(nodes, scenario), KubeletPace.USUAL, part -> {
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
