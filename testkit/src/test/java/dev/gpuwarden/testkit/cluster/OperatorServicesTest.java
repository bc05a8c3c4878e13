package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.cluster.OperatorServices.Service;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two services at a time, one on each node of the shared cluster: a node starts and ends a pod in seconds. */
@Tag("nodes")
@Timeout(600)
class OperatorServicesTest {

    /** A GPU that no process of the scenario uses. */
    private static final String GPU = "7";

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @Test
    void eachServiceKeepsGpusFromAReset() {
        List<ClusterNode> nodes = Cluster.shared().nodes();
        nodes.forEach(node -> assertThat(smi(node, "-pm", "0", "-i", GPU)).startsWith("0 "));
        nodes.forEach(node -> assertThat(smi(node, "-r", "-i", GPU)).startsWith("0 "));
        try (OperatorServices services = OperatorServices.install(Cluster.shared())) {
            refused(services, Service.DEVICE_PLUGIN, Service.GPU_FEATURE_DISCOVERY);
            refused(services, Service.DCGM, Service.DCGM_EXPORTER);
        } finally {
            nodes.forEach(node -> smi(node, "-pm", "1", "-i", GPU));
        }
        nodes.forEach(node -> awaitAllocatable(node, "8"));
    }

    private static void refused(OperatorServices services, Service... each) {
        List<ClusterNode> nodes = Cluster.shared().nodes();
        for (int i = 0; i < each.length; i++) {
            services.deploy(nodes.get(i), each[i]);
        }
        for (int i = 0; i < each.length; i++) {
            ClusterNode node = nodes.get(i);
            awaitPods(node, each[i].daemonSet() + " True");
            awaitRefusal(node);
            // Only the device plugin offers GPUs.
            awaitAllocatable(node, each[i] == Service.DEVICE_PLUGIN ? "8" : "0");
        }
        nodes.forEach(services::deploy);
        for (int i = 0; i < each.length; i++) {
            awaitPods(nodes.get(i), "");
            assertThat(smi(nodes.get(i), "-r", "-i", GPU)).startsWith("0 ").contains("was successfully reset");
            awaitAllocatable(nodes.get(i), "0");
        }
    }

    /** A pod is ready a moment before its program has the driver. */
    private static void awaitRefusal(ClusterNode node) {
        Await.until(
                () -> smi(node, "-r", "-i", GPU).startsWith("255 "),
                () -> node.name() + ": expected a refusal, seen " + smi(node, "-r", "-i", GPU));
        assertThat(smi(node, "-r", "-i", GPU)).contains("In use by another client");
    }

    private static void awaitPods(ClusterNode node, String expected) {
        Await.until(
                () -> pods(node).equals(expected),
                () -> node.name() + ": expected \"" + expected + "\", seen " + pods(node));
    }

    private static String pods(ClusterNode node) {
        return kubectl(
                        "get",
                        "pods",
                        "--namespace=" + OperatorServices.NAMESPACE,
                        "--field-selector=spec.nodeName=" + node.name(),
                        "-o",
                        "jsonpath={range .items[*]}{.metadata.labels.app} "
                                + "{.status.conditions[?(@.type==\"Ready\")].status}{\"\\n\"}{end}")
                .strip();
    }

    private static void awaitAllocatable(ClusterNode node, String expected) {
        Await.until(
                () -> allocatable(node).equals(expected),
                () -> node.name() + ": expected " + expected + " GPUs, seen " + allocatable(node));
    }

    private static String allocatable(ClusterNode node) {
        return kubectl("get", "node", node.name(), "-o", "jsonpath={.status.allocatable.nvidia\\.com/gpu}");
    }

    /** Returns the exit code and the output of the node's nvidia-smi. */
    private static String smi(ClusterNode node, String... arguments) {
        List<String> command = new ArrayList<>(List.of(node.gpus().nvidiaSmi().toString()));
        command.addAll(List.of(arguments));
        Execution run = Execution.of(new ProcessBuilder(command).redirectErrorStream(true));
        return run.code() + " " + run.output();
    }

    private static String kubectl(String... arguments) {
        return Cluster.shared().controlPlane().kubectl(arguments);
    }
}
