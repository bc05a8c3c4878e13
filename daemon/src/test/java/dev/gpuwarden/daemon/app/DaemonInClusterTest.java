package dev.gpuwarden.daemon.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.kube.TestCluster;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The daemon as a process of its own, on a simulated node that is a Node of a real API server. */
@Tag("api")
@Timeout(600)
class DaemonInClusterTest {

    private static RunningDaemon start(SimulatedNode node, Path kubeconfig, String name) throws IOException {
        return RunningDaemon.start(
                node,
                "--kernel-log.source=none",
                "--check.interval=gpu-state=1s",
                "--node.name=" + name,
                "--kubernetes.write=conditions,events,labels",
                "--kubernetes.kubeconfig=" + kubeconfig);
    }

    @Test
    void gpuFaultsAreVisibleInKubectlAcrossKills() throws Exception {
        whatHappensToAGpuIsSeenAlthoughTheDaemonIsKilled("killed-often", 600);
    }

    @Test
    @Tag("soak")
    void gpuFaultsAreVisibleInKubectlAcrossSixteenKills() throws Exception {
        whatHappensToAGpuIsSeenAlthoughTheDaemonIsKilled("killed-more-often", 100);
    }

    private static void whatHappensToAGpuIsSeenAlthoughTheDaemonIsKilled(String name, int stepMillis) throws Exception {
        ControlPlane plane = TestCluster.get();
        TestCluster.node(plane, name);
        Path kubeconfig = plane.kubeconfig(TestCluster.token(plane, name));
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            RunningDaemon daemon = start(node, kubeconfig, name);
            until(() -> TestCluster.label(plane, name).equals("PASS"));
            node.set("gpu.3.state", "lost");
            for (int millis = 0; millis < 1600; millis += stepMillis) {
                // Kills it while it finds the fault, stores it, writes the condition, the label, the Event, or just
                // after.
                TimeUnit.MILLISECONDS.sleep(millis);
                assertThat(daemon.process().destroyForcibly().waitFor(10, TimeUnit.SECONDS))
                        .isTrue();
                daemon = start(node, kubeconfig, name);
            }
            until(() -> TestCluster.condition(plane, name, "GpuState").startsWith("True GpuStateIsNotHealthy"));
            until(() -> TestCluster.label(plane, name).equals("EVICT"));
            until(() -> TestCluster.events(plane, name).contains("Warning GpuStateIsNotHealthy"));
            assertThat(plane.kubectl("describe", "node", name))
                    .containsPattern("GpuState +True .*ErrorCode:gpu-lost PCI:")
                    .containsPattern("Warning +GpuStateIsNotHealthy .*ErrorCode:gpu-lost PCI:");
            node.set("gpu.3.state", "ok");
            until(() -> TestCluster.condition(plane, name, "GpuState")
                    .equals("False GpuStateIsHealthy No Health Failures"));
            until(() -> TestCluster.label(plane, name).equals("PASS"));
            until(() -> TestCluster.events(plane, name).contains("Normal GpuStateIsHealthy"));
            assertThat(TestCluster.events(plane, name))
                    .as("each once")
                    .containsOnlyOnce("Warning GpuStateIsNotHealthy")
                    .containsOnlyOnce("Normal GpuStateIsHealthy");
            assertThat(daemon.awaitMetrics(metrics -> metrics.contains("gpuwarden_kubernetes_up{kind=\"events\"} 1.0")))
                    .contains("gpuwarden_kubernetes_requests_total{kind=\"conditions\",result=\"failed\"} 0.0")
                    .contains("gpuwarden_sink_up{sink=\"kubernetes\"} 1.0");
            daemon.stop();
            assertThat(daemon.process().exitValue()).isZero();
        }
    }
}
