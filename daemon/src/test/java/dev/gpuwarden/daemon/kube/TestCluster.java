package dev.gpuwarden.daemon.kube;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.ApiClient;
import dev.gpuwarden.testkit.cluster.ApiException;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.JsonPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** A real API server with the manifests that are shipped, in force. */
public final class TestCluster {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");
    private static ControlPlane prepared;
    private static boolean budgeted;

    private TestCluster() {}

    public static synchronized ControlPlane get() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        ControlPlane plane = ControlPlane.shared();
        if (prepared == null) {
            apply(plane, "node/gpuwarden-node.yaml");
            apply(plane, "node/gpuwarden-node-policy.yaml");
            node(plane, "policy-probe");
            ApiClient probe = plane.client(token(plane, "policy-probe"));
            // Policies are in force a moment after they are there.
            until(() -> refused(() ->
                    probe.patch("node/policy-probe?dryRun=All", "{\"metadata\":{\"labels\":{\"of-others\":\"x\"}}}")));
            until(() -> refused(() -> probe.post("events/default?dryRun=All", """
                    {"metadata": {"name": "another-node.probe", "namespace": "default"},
                     "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": "another-node"}}""")));
            prepared = plane;
        }
        return plane;
    }

    /** Returns the same with the components that VRAM budgets need, as kustomize makes them. */
    public static synchronized ControlPlane withBudgets(Path folder) {
        ControlPlane plane = get();
        if (!budgeted) {
            try {
                Path manifests = folder.toRealPath().relativize(MANIFESTS.toRealPath());
                Files.writeString(folder.resolve("kustomization.yaml"), """
                        resources: [%1$s/node]
                        components: [%1$s/components/node-vram, %1$s/components/node-vram-armed]
                        """.formatted(manifests));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            plane.client().apply(plane.kubectl("kustomize", folder.toString()));
            ApiClient probe = plane.client(token(plane, "policy-probe"));
            until(() -> !refused(() -> probe.patch("node/policy-probe/status?dryRun=All", """
                    {"status": {"capacity": {"gpuwarden.dev/vram-mib": "1"}}}""")));
            until(() -> refused(() -> probe.post("pod/default/probe/eviction", """
                    {"apiVersion": "policy/v1", "kind": "Eviction",
                     "metadata": {"name": "probe", "namespace": "default"}}""")));
            budgeted = true;
        }
        return plane;
    }

    /** Returns true if a policy refuses the request; fails if RBAC does. */
    private static boolean refused(Runnable request) {
        try {
            request.run();
            return false;
        } catch (ApiException e) {
            if (e.status() == 404) {
                return false;
            }
            assertThat(e).hasMessageContaining("ValidatingAdmissionPolicy");
            return true;
        }
    }

    /** Applies one of the shipped manifests. */
    static void apply(ControlPlane plane, String manifest) {
        try {
            plane.client().apply(Files.readString(MANIFESTS.resolve(manifest)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A Node as a kubelet and node-problem-detector leave it. */
    public static void node(ControlPlane plane, String name) {
        plane.client().apply("""
                apiVersion: v1
                kind: Node
                metadata: {name: %s, labels: {zone: a}}
                """.formatted(name));
        plane.client().patch("node/" + name + "/status", """
                {"status": {"capacity": {"nvidia.com/gpu": "8"}, "conditions": [
                 {"type": "Ready", "status": "True", "reason": "KubeletReady"},
                 {"type": "KernelDeadlock", "status": "False", "reason": "KernelHasNoDeadlock"}]}}""");
    }

    /** Returns the token of a pod of the DaemonSet on that node. */
    public static String token(ControlPlane plane, String node) {
        Map<String, Object> request =
                plane.client().post("serviceaccount/gpuwarden/gpuwarden/token", """
                {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Node", "name": "%s"}}}""".formatted(node));
        return JsonPath.text(request, ".status.token");
    }

    /** Its status, reason and message; empty where the node has none of that type. */
    public static String condition(ControlPlane plane, String node, String type) {
        Map<String, Object> object = plane.client().get("node/" + node);
        String path = ".status.conditions[?(@.type==\"" + type + "\")]";
        return JsonPath.text(object, path).isEmpty()
                ? ""
                : JsonPath.text(object, path + ".status") + " " + JsonPath.text(object, path + ".reason") + " "
                        + JsonPath.text(object, path + ".message");
    }

    public static String label(ControlPlane plane, String node) {
        return plane.client().get("node/" + node, ".metadata.labels.autopilot\\.ibm\\.com/gpuhealth");
    }

    /** Type, reason and count of each of a node's, in the order of their names: the oldest first. */
    public static String events(ControlPlane plane, String node) {
        List<?> events = (List<?>) plane.client()
                .get("events/default?fieldSelector=involvedObject.name%3D" + node)
                .get("items");
        return events.stream()
                .map(Object.class::cast)
                .sorted(Comparator.comparing(event -> JsonPath.text(event, ".metadata.name")))
                .map(event -> JsonPath.text(event, ".type") + " " + JsonPath.text(event, ".reason") + " "
                        + JsonPath.text(event, ".count") + "\n")
                .collect(Collectors.joining());
    }
}
