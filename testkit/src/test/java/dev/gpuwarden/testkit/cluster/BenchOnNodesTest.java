package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The runtime image of the last build in a pod on each of two real nodes: their GPUs reduce together over the nodes' network. */
@Tag("nodes")
@Timeout(600)
class BenchOnNodesTest {

    private static final Path IMAGE = Path.of(System.getProperty("gpuwarden.image", ""));
    private static final int PORT = 29_500;

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @AfterEach
    void removePods() {
        if (Cluster.missing().isEmpty()) {
            kubectl("delete", "pod", "bench-0", "bench-1", "--ignore-not-found", "--wait=false");
        }
    }

    /** One process with eight ranks; rank 0 is on node-1. The image keeps its path, for which its class archive is made. */
    private static String pod(int rank, String meeting) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: bench-%1$d}
                spec:
                  nodeSelector: {kubernetes.io/hostname: node-%2$d}
                  hostNetwork: true
                  restartPolicy: Never
                  terminationGracePeriodSeconds: 0
                  containers:
                  - name: main
                    image: localhost/busybox:1
                    imagePullPolicy: Never
                    command: ["%3$s/bin/gpuwarden", bench, all_reduce, -b, "8", -e, 128K, -f, "128", -g, "8", -n, "2",
                      --rendezvous, "%4$s", --ranks, "2", --rank, "%1$d", --join-timeout, 60s]
                    resources: {limits: {nvidia.com/gpu: 8}}
                    volumeMounts: [{name: image, mountPath: "%3$s"}, {name: usr, mountPath: /usr},
                      {name: lib, mountPath: /lib}, {name: lib64, mountPath: /lib64}]
                  volumes: [{name: image, hostPath: {path: "%3$s"}}, {name: usr, hostPath: {path: /usr}},
                    {name: lib, hostPath: {path: /lib}}, {name: lib64, hostPath: {path: /lib64}}]
                """.formatted(rank, rank + 1, IMAGE, meeting);
    }

    @Test
    void gpusOfTwoNodesReduceTogether() {
        String meeting = kubectl("get", "node", "node-1", "-o", "jsonpath={.status.addresses[0].address}") + ":" + PORT;
        Cluster.shared().controlPlane().apply(pod(0, meeting) + "---\n" + pod(1, meeting));
        String ended = "--for=jsonpath={.status.containerStatuses[0].state.terminated}";
        kubectl("wait", ended, "pod/bench-0", "pod/bench-1", "--timeout=3m");
        String table = kubectl("logs", "bench-0");
        assertThat(exitCode("bench-0")).as(table).isEqualTo("0");
        assertThat(exitCode("bench-1")).as(kubectl("logs", "bench-1")).isEqualTo("0");
        assertThat(all("(?m)^#  Rank +(\\d+) Group  0 Pid +\\d+ on +(node-\\d) device +(\\d) ", table))
                .hasSize(16)
                .allSatisfy(rank -> {
                    int number = Integer.parseInt(rank.group(1));
                    assertThat(rank.group(2)).isEqualTo("node-" + (1 + number / 8));
                    assertThat(rank.group(3)).isEqualTo("" + number % 8);
                });
        // Size, count, type, operator, root, then time, both bandwidths and wrong elements, out of place and in place.
        assertThat(all("(?m)^ +(\\d+) +\\d+ +float +sum +-1( +[0-9.]+){3} +0( +[0-9.]+){3} +0$", table))
                .extracting(row -> row.group(1))
                .containsExactly("8", "1024", "131072");
        assertThat(table).contains("# Out of bounds values : 0 OK\n", "# Avg bus bandwidth ");
        assertThat(kubectl("logs", "bench-1")).isEmpty();
    }

    private static List<MatchResult> all(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().toList();
    }

    private static String exitCode(String pod) {
        return kubectl("get", "pod", pod, "-o", "jsonpath={.status.containerStatuses[0].state.terminated.exitCode}");
    }

    private static String kubectl(String... arguments) {
        return Cluster.shared().controlPlane().kubectl(arguments);
    }
}
