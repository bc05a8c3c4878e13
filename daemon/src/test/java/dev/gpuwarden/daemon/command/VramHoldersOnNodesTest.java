package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.ClusterNode;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A real kubelet that gives simulated GPUs to real pods. */
@Tag("nodes")
@Timeout(900)
class VramHoldersOnNodesTest {

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @AfterEach
    void removePods() {
        if (Cluster.missing().isEmpty()) {
            Cluster.shared().controlPlane().kubectl("delete", "pod", "one", "other", "two", "--ignore-not-found");
        }
    }

    private static String pod(String name, int gpus) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeSelector: {kubernetes.io/hostname: node-2}
                  terminationGracePeriodSeconds: 0
                  containers:
                  - name: main
                    image: localhost/busybox:1
                    imagePullPolicy: Never
                    command: [sh, -c, "echo $NVIDIA_VISIBLE_DEVICES; exec sleep infinity"]
                    resources: {limits: {nvidia.com/gpu: %d}}
                """.formatted(name, gpus);
    }

    private static Program holders(ClusterNode node) {
        return Program.run(node.gpus(), "vram", "holders", "--path.pod-resources=" + node.podResources());
    }

    /** Returns the devices that the pod got from the device plugin, from its own log. */
    private static List<String> given(ControlPlane plane, String pod) {
        return List.of(plane.kubectl("logs", pod).strip().split(","));
    }

    private static List<String> told(Program holders, String pod) {
        Matcher row = Pattern.compile("(GPU-\\S+) +default/" + pod + " +main +exclusive")
                .matcher(holders.out());
        return row.results().map(result -> result.group(1)).toList();
    }

    @Test
    void eachPodIsNamedWithItsGpusFromTheDevicePlugin() {
        ControlPlane plane = Cluster.shared().controlPlane();
        ClusterNode node = Cluster.shared().nodes().get(1);
        plane.kubectl("wait", "--for=jsonpath={.status.allocatable.nvidia\\.com/gpu}=8", "node/node-2", "--timeout=2m");
        plane.apply(pod("one", 1));
        plane.apply(pod("other", 1));
        plane.apply(pod("two", 2));
        plane.kubectl("wait", "--for=condition=Ready", "pod/one", "pod/other", "pod/two", "--timeout=3m");
        Program holders = holders(node);
        assertThat(holders.exitCode()).as(holders.out() + holders.err()).isZero();
        for (String pod : List.of("one", "other", "two")) {
            assertThat(told(holders, pod)).as(pod).containsExactlyInAnyOrderElementsOf(given(plane, pod));
        }
        assertThat(told(holders, "two")).hasSize(2);
        assertThat(told(holders, "one")).hasSize(1).isNotEqualTo(told(holders, "other"));
        assertThat(holders.out().lines().filter(line -> line.contains("none"))).hasSize(4);

        plane.kubectl("delete", "pod", "one", "--now", "--wait=true");
        Program after = holders(node);
        assertThat(told(after, "one")).isEmpty();
        assertThat(told(after, "other")).isEqualTo(told(holders, "other"));
    }
}
