package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Await;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("api")
@Timeout(600)
class ControlPlaneComponentsTest {

    private static final Component[] ALL = {Component.CONTROLLER_MANAGER, Component.SCHEDULER};

    @TempDir
    Path parent;

    @BeforeEach
    void binariesAreThere() {
        Optional<String> missing = Binaries.ofUser().missing(ALL);
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @Test
    void schedulerPlacesPodsAndReportsMissingResources() {
        Path folder = parent.resolve("cluster");
        try (ControlPlane plane = ControlPlane.start(folder, ALL)) {
            plane.apply("""
                    apiVersion: v1
                    kind: Node
                    metadata: {name: gpu-1}
                    """);
            plane.kubectl(
                    "patch",
                    "node",
                    "gpu-1",
                    "--subresource=status",
                    "--patch",
                    "{\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"8\",\"pods\":\"10\",\"cpu\":\"4\"},"
                            + "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
            plane.apply(deployment("fits", 8));
            plane.kubectl("wait", "--for=condition=PodScheduled", "pod", "--selector=app=fits", "--timeout=3m");
            assertThat(plane.kubectl("get", "pods", "--selector=app=fits", "-o", "jsonpath={.items[*].spec.nodeName}"))
                    .isEqualTo("gpu-1");
            plane.apply(deployment("more", 9));
            Await.until(() -> reasonOfMore(plane).contains("1 Insufficient nvidia.com/gpu"), () -> reasonOfMore(plane));
        }
        assertThat(folder).doesNotExist();
    }

    private static String reasonOfMore(ControlPlane plane) {
        return plane.kubectl(
                "get",
                "pods",
                "--selector=app=more",
                "-o",
                "jsonpath={.items[*].status.conditions[?(@.type==\"PodScheduled\")].message}");
    }

    private static String deployment(String name, int gpus) {
        return """
                apiVersion: apps/v1
                kind: Deployment
                metadata: {name: NAME}
                spec:
                  selector: {matchLabels: {app: NAME}}
                  template:
                    metadata: {labels: {app: NAME}}
                    spec:
                      containers:
                      - name: main
                        image: none
                        resources: {limits: {nvidia.com/gpu: GPUS}}
                """.replace("NAME", name).replace("GPUS", Integer.toString(gpus));
    }
}
