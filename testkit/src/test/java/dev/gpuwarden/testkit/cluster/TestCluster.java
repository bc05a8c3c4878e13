package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The cluster that tests of this Java process share: node-1 with one T4, node-2 with eight H100. It ends with the process. */
final class TestCluster {

    private static @Nullable Cluster shared;

    private TestCluster() {}

    static synchronized Cluster shared() {
        Cluster now = shared;
        if (now == null) {
            try {
                now = Cluster.start(Files.createTempDirectory("gpuwarden-nodes-"), List.of("t4", "h100x8"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            shared = now;
        }
        return now;
    }

    /** A pod of busybox that runs a shell script; on this node, or anywhere when its name is empty. */
    static String pod(String name, String node, String resources, String script) {
        String where = node.isEmpty() ? "" : "nodeName: " + node;
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s, labels: {app: %s}}
                spec:
                  %s
                  terminationGracePeriodSeconds: 0
                  containers:
                  - name: main
                    image: localhost/busybox:1
                    imagePullPolicy: Never
                    command: [sh, -c, %s]
                    resources: {%s}
                """.formatted(name, name, where, quoted(script), resources);
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
