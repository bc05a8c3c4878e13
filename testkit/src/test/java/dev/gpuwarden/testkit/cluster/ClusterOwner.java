package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A Java process that runs a cluster with one node in the folder it is given, until it is killed. */
final class ClusterOwner {

    private ClusterOwner() {}

    public static void main(String[] arguments) throws IOException {
        Cluster.start(Path.of(arguments[0]), List.of("t4"));
        System.out.println("ready");
        System.in.read();
    }
}
