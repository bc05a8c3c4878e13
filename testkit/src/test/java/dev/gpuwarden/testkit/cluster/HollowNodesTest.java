package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("api")
class HollowNodesTest {

    private static final String SELECTOR = "gpuwarden.dev/object-node,nvidia.com/gpu.present=true";

    @TempDir
    Path parent;

    @BeforeEach
    void binariesAreThere() {
        Optional<String> missing = Binaries.ofUser().missing(Component.values());
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @Test
    void nodesAndPodsAreCreatedAndDeleted() {
        ControlPlane plane = ControlPlane.shared();
        try (HollowNodes nodes = HollowNodes.create(plane, "objects", 50, 2)) {
            assertThat(nodes.names()).hasSize(50).contains("objects-0", "objects-49");
            assertThat(ready(plane)).hasSize(50).containsOnly("True 8");
            assertThat(plane.kubectl("get", "nodes", "-l", SELECTOR, "-o", "jsonpath={.items[*].spec.taints}"))
                    .isEmpty();
            assertThat(plane.kubectl("get", "node", "objects-7", "--show-managed-fields", "-o", "json")
                            .replaceAll("\n *", "")
                            .getBytes(StandardCharsets.UTF_8)
                            .length)
                    .isBetween(8_000, 16_000);
            assertThat(plane.kubectl(
                                    "get",
                                    "pods",
                                    "-n",
                                    "objects",
                                    "--field-selector=status.phase=Running",
                                    "-o",
                                    "custom-columns=:.spec.nodeName",
                                    "--no-headers")
                            .lines()
                            .distinct())
                    .containsExactlyInAnyOrderElementsOf(nodes.names());
        }
        assertThat(ready(plane)).isEmpty();
        assertThat(plane.kubectl("get", "pods", "-n", "objects", "-o", "name")).isEmpty();
        assertThat(plane.kubectl("get", "leases", "-n", "kube-node-lease", "-o", "name"))
                .doesNotContain("objects-");
    }

    @Test
    void restartedNodeReportsAnotherBootIdAfterItsOutage() {
        ControlPlane plane = ControlPlane.shared();
        try (HollowNodes nodes = HollowNodes.create(plane, "restarted", 2, 0)) {
            String bootId = "jsonpath={.status.nodeInfo.bootID}";
            String before = plane.kubectl("get", "node", "restarted-1", "-o", bootId);
            long start = System.nanoTime();
            nodes.reboot("restarted-1", Duration.ofSeconds(1)).join();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
            assertThat(plane.kubectl("get", "node", "restarted-1", "-o", bootId))
                    .isNotEqualTo(before)
                    .hasSize(36);
            assertThat(plane.kubectl("get", "node", "restarted-0", "-o", bootId))
                    .isEqualTo("00000000-0000-4000-8000-000000000000");
            assertThat(ready(plane)).hasSize(2).containsOnly("True 8");
        }
    }

    @Test
    void controllersKeepNodesReadyWhileLeasesAreRenewed() {
        try (ControlPlane plane = ControlPlane.start(parent.resolve("plane"), Component.CONTROLLER_MANAGER);
                HollowNodes nodes = HollowNodes.create(plane, "objects", 3, 1)) {
            String lease = "jsonpath={.spec.renewTime}";
            String first = plane.kubectl(
                    "get", "lease", "-n", "kube-node-lease", nodes.names().get(2), "-o", lease);
            Await.until(
                    () -> !plane.kubectl(
                                    "get",
                                    "lease",
                                    "-n",
                                    "kube-node-lease",
                                    nodes.names().get(2),
                                    "-o",
                                    lease)
                            .equals(first),
                    () -> "the lease was not renewed since " + first);
            assertThat(ready(plane)).hasSize(3).containsOnly("True 8");
            assertThat(plane.kubectl("get", "pods", "-n", "objects", "-o", "name")
                            .lines())
                    .hasSize(3);
        }
    }

    /** Prints the figures of testkit/RATIONALE.md. */
    @Test
    @Tag("soak")
    @Timeout(1_800)
    void tenThousandNodesAndFiftyThousandPods() throws IOException {
        try (ControlPlane plane = ControlPlane.start(parent.resolve("plane"))) {
            long start = System.nanoTime();
            HollowNodes nodes = HollowNodes.create(plane, "bare", 10_000, 0);
            say("10,000 nodes", start);
            long gone = System.nanoTime();
            nodes.close();
            say("deleted", gone);
            long again = System.nanoTime();
            HollowNodes full = HollowNodes.create(plane, "full", 10_000, 5);
            say("10,000 nodes with 50,000 pods", again);
            assertThat(ready(plane)).hasSize(10_000);
            long end = System.nanoTime();
            full.close();
            say("deleted", end);
        }
    }

    private void say(String what, long since) throws IOException {
        try (Stream<Path> files = Files.walk(parent.resolve("plane/etcd/member/snap"))) {
            long megabytes = files.filter(file -> file.endsWith("db"))
                            .mapToLong(file -> file.toFile().length())
                            .sum()
                    / 1_000_000;
            System.out.printf("%s: %d s, etcd %d MB%n", what, (System.nanoTime() - since) / 1_000_000_000, megabytes);
        }
    }

    private static List<String> ready(ControlPlane plane) {
        return plane.kubectl(
                        "get",
                        "nodes",
                        "-l",
                        SELECTOR,
                        "-o",
                        "jsonpath={range .items[*]}{.status.conditions[?(@.type==\"Ready\")].status} "
                                + "{.status.allocatable.nvidia\\.com/gpu}{\"\\n\"}{end}")
                .lines()
                .toList();
    }
}
