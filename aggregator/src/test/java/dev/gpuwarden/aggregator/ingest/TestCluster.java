package dev.gpuwarden.aggregator.ingest;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.JsonPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A real API server with the shipped manifests in force, and nodes with a daemon's pod on each. */
final class TestCluster {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");
    static final String AUDIENCE = "gpuwarden-aggregator";

    private static ControlPlane prepared;

    private TestCluster() {}

    static synchronized ControlPlane get() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        ControlPlane plane = ControlPlane.shared();
        if (prepared == null) {
            plane.client().apply(manifest("crds/nodehealths.gpuwarden.dev.yaml"));
            plane.client().apply(manifest("node/gpuwarden-node.yaml"));
            plane.client().apply(manifest("gpuwarden-aggregator.yaml"));
            plane.client().apply(manifest("components/vram-advertise/rights.yaml"));
            plane.client().apply(manifest("components/vram-armed/rights.yaml"));
            plane.client().apply(manifest("components/vram-delete/rights.yaml"));
            // Waits until the API server serves the kind.
            var unused = plane.client().get("nodehealths");
            prepared = plane;
        }
        return plane;
    }

    private static String manifest(String file) {
        try {
            return Files.readString(MANIFESTS.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Creates a Node, and a pod of the daemon on it. */
    static void node(ControlPlane plane, String name) {
        plane.client().apply("""
                apiVersion: v1
                kind: Node
                metadata: {name: %s}
                """.formatted(name));
        pod(plane, name);
    }

    /** Creates a pod whose Node need not exist. */
    static void pod(ControlPlane plane, String node) {
        plane.client().apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: daemon-%s, namespace: gpuwarden}
                spec:
                  nodeName: %s
                  serviceAccountName: gpuwarden
                  automountServiceAccountToken: false
                  containers: [{name: daemon, image: none}]
                """.formatted(node, node));
    }

    /** Returns a token as a kubelet projects it into that pod. */
    static String token(ControlPlane plane, String node) {
        return token(plane, node, AUDIENCE);
    }

    static String token(ControlPlane plane, String node, String audience) {
        return tokenOf(plane, "gpuwarden", """
                {"spec": {"audiences": ["%s"], "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "daemon-%s"}}}
                """.formatted(audience, node));
    }

    /** Returns a token as a kubelet projects it into a pod of another account, without a bound pod. */
    static String tokenOf(ControlPlane plane, String serviceAccount) {
        return tokenOf(plane, serviceAccount, "{\"spec\": {\"audiences\": [\"" + AUDIENCE + "\"]}}");
    }

    private static String tokenOf(ControlPlane plane, String serviceAccount, String request) {
        return JsonPath.text(
                plane.client().post("serviceaccount/gpuwarden/" + serviceAccount + "/token", request), ".status.token");
    }

    static Path aggregatorKubeconfig(ControlPlane plane) {
        return plane.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator"));
    }

    static String health(ControlPlane plane, String node, String path) {
        return plane.client().find("nodehealth/" + node, path);
    }
}
