package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Await;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Restarts of a node of the shared cluster. */
@Tag("nodes")
@Timeout(600)
class RebootTest {

    private static final String NODE = "node-2";

    /** Like a Job that restarts the host; what it writes after that is never read. */
    private static final String JOB = """
            apiVersion: batch/v1
            kind: Job
            metadata: {name: restarts-the-host}
            spec:
              backoffLimit: 0
              template:
                spec:
                  nodeName: node-2
                  restartPolicy: Never
                  containers:
                  - name: main
                    image: localhost/busybox:1
                    imagePullPolicy: Never
                    command: [chroot, /host, systemctl, reboot]
                    securityContext: {privileged: true}
                    volumeMounts: [{name: host, mountPath: /host}]
                  volumes: [{name: host, hostPath: {path: /}}]
            """;

    private ClusterNode node;

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        node = Cluster.shared().nodes().get(1);
    }

    @AfterEach
    void restoreRestarts() {
        if (Cluster.missing().isEmpty()) {
            node.rebootsLike(Restart.COMES_BACK, Duration.ZERO);
            kubectl("delete", "--ignore-not-found", "--wait=false", "job/restarts-the-host", "pod/stays");
        }
    }

    @Test
    void jobRestartsItsNode() {
        Cluster.shared().controlPlane().apply(TestPod.running("stays", NODE, "", "exec sleep infinity"));
        kubectl("wait", "--for=condition=Ready", "pod/stays", "--timeout=2m");
        String before = reportedBootId();
        assertThat(before).isEqualTo(node.bootId());
        node.gpus().set("gpu.3.state", "lost");
        int boots = node.boots();
        node.rebootsLike(Restart.COMES_BACK, Duration.ofSeconds(1));
        Cluster.shared().controlPlane().apply(JOB);
        Await.until(() -> !node.running(), () -> "expected the node to end: " + kubectl("describe", "job"));
        // Its file stays on the node's disk.
        assertThatThrownBy(() -> SocketChannel.open(UnixDomainSocketAddress.of(node.podResources()))
                        .close())
                .isInstanceOf(ConnectException.class);
        Await.until(
                () -> !reportedBootId().equals(before),
                () -> "expected another boot id than " + before + ", seen " + reportedBootId());
        assertThat(reportedBootId()).isEqualTo(node.bootId());
        assertThat(node.boots()).isEqualTo(boots + 1);
        assertThat(node.gpus().control().gpus().get(3).fit()).isTrue();
        kubectl("wait", "--for=condition=Ready", "node/" + NODE, "--timeout=1m");
        // It runs again, on a network that reaches the API server and that the API server reaches.
        Await.until(
                () -> pod("{.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].ready}")
                        .equals("1 true"),
                () -> "expected the pod to run again: " + kubectl("describe", "pod", "stays"));
        assertThat(kubectl("exec", "stays", "--", "echo", "here")).isEqualTo("here\n");
        Await.until(
                () -> kubectl("get", "node", NODE, "-o", "jsonpath={.status.allocatable.nvidia\\.com/gpu}")
                        .equals("8"),
                () -> "expected 8 GPUs: " + kubectl("describe", "node", NODE));
    }

    @Test
    void restartsGoWrong() {
        String before = node.bootId();
        int boots = node.boots();
        node.gpus().set("gpu.3.state", "lost");
        node.rebootsLike(Restart.IGNORED, Duration.ZERO);
        node.reboot();
        assertThat(node.boots()).isEqualTo(boots);
        node.rebootsLike(Restart.SAME_BOOT_ID, Duration.ZERO);
        node.reboot();
        assertThat(node.boots()).isEqualTo(boots + 1);
        assertThat(node.bootId()).isEqualTo(before);
        assertThat(node.gpus().control().gpus().get(3).fit()).isFalse();
        node.rebootsLike(Restart.NEVER_COMES_BACK, Duration.ZERO);
        node.reboot();
        assertThat(node.running()).isFalse();
        // By its button: a person comes.
        node.rebootsLike(Restart.COMES_BACK, Duration.ZERO);
        node.reboot();
        assertThat(node.running()).isTrue();
        assertThat(node.bootId()).isNotEqualTo(before);
        Await.until(
                () -> reportedBootId().equals(node.bootId()),
                () -> "expected " + node.bootId() + ", seen " + reportedBootId());
    }

    private static String reportedBootId() {
        return kubectl("get", "node", NODE, "-o", "jsonpath={.status.nodeInfo.bootID}");
    }

    private static String pod(String what) {
        return kubectl("get", "pod", "stays", "-o", "jsonpath=" + what);
    }

    private static String kubectl(String... arguments) {
        return Cluster.shared().controlPlane().kubectl(arguments);
    }
}
