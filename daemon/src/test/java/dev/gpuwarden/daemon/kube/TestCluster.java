package dev.gpuwarden.daemon.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A real API server with the manifests that are shipped, in force. */
public final class TestCluster {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");
    private static ControlPlane prepared;

    private TestCluster() {}

    public static synchronized ControlPlane get() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        ControlPlane plane = ControlPlane.shared();
        if (prepared == null) {
            apply(plane, "gpuwarden-node.yaml");
            apply(plane, "gpuwarden-node-policy.yaml");
            node(plane, "policy-probe");
            Path probe = plane.kubeconfig(token(plane, "policy-probe"));
            // Policies are in force a moment after they are there.
            await(() ->
                    refused(plane, probe, "label", "node", "policy-probe", "a-label-of-others=x", "--dry-run=server"));
            await(() -> refused(plane, probe, "create", "-f", event(plane, "another-node"), "--dry-run=server"));
            prepared = plane;
        }
        return plane;
    }

    private static String event(ControlPlane plane, String node) {
        try {
            Path file = plane.adminKubeconfig().resolveSibling("event-" + node + ".yaml");
            return Files.writeString(file, """
                    apiVersion: v1
                    kind: Event
                    metadata: {name: %s.probe, namespace: default}
                    involvedObject: {apiVersion: v1, kind: Node, name: %s}
                    """.formatted(node, node)).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether a policy, and not RBAC, refuses that. */
    public static boolean refused(ControlPlane plane, Path kubeconfig, String... arguments) {
        try {
            plane.kubectl(kubeconfig, arguments);
            return false;
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("ValidatingAdmissionPolicy");
            return true;
        }
    }

    private static void apply(ControlPlane plane, String manifest) {
        try {
            plane.apply(Files.readString(MANIFESTS.resolve(manifest)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A Node as a kubelet and node-problem-detector leave it. */
    public static void node(ControlPlane plane, String name) {
        plane.apply("""
                apiVersion: v1
                kind: Node
                metadata: {name: %s, labels: {zone: a}}
                """.formatted(name));
        plane.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "--patch", """
                {"status": {"capacity": {"nvidia.com/gpu": "8"}, "conditions": [
                 {"type": "Ready", "status": "True", "reason": "KubeletReady"},
                 {"type": "KernelDeadlock", "status": "False", "reason": "KernelHasNoDeadlock"}]}}""");
    }

    /** Of a pod of the DaemonSet on that node. */
    public static String token(ControlPlane plane, String node) {
        return plane.kubectl(
                        "create",
                        "token",
                        "gpuwarden",
                        "--namespace=gpuwarden",
                        "--bound-object-kind=Node",
                        "--bound-object-name=" + node)
                .strip();
    }

    public static String condition(ControlPlane plane, String node, String type) {
        String path = "{range .status.conditions[?(@.type==\"" + type + "\")]}{.status} {.reason} {.message}{end}";
        return plane.kubectl("get", "node", node, "--output=jsonpath=" + path);
    }

    public static String label(ControlPlane plane, String node) {
        return plane.kubectl(
                "get", "node", node, "--output=jsonpath={.metadata.labels['autopilot\\.ibm\\.com/gpuhealth']}");
    }

    /** Type, reason and count of each of a node's, the oldest first. */
    public static String events(ControlPlane plane, String node) {
        return plane.kubectl(
                "get",
                "events",
                "--field-selector=involvedObject.name=" + node,
                "--sort-by=.metadata.name",
                "--output=jsonpath={range .items[*]}{.type} {.reason} {.count}{\"\\n\"}{end}");
    }

    public static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end)
                    .as("still not so after two minutes")
                    .isNegative();
            try {
                TimeUnit.MILLISECONDS.sleep(50);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
