package dev.gpuwarden.daemon.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.kube.MaintenanceGate.Act;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The test before an act, with the account of a Job and the rights of the shipped manifests. */
@Tag("api")
@ExtendWith(UsedRights.class)
class MaintenanceGateClusterTest {

    private static final String ACCOUNT = "gpuwarden-maintenance";

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"GPUReset", "RebootNode", "TerminateNode"})
    void accountOfAJobMayReadAllThatTheActNeeds(String kind) throws Exception {
        ControlPlane plane = TestCluster.get();
        String plural = kind.toLowerCase(Locale.ROOT) + "s";
        String node = "gate-" + plural;
        TestCluster.apply(plane, "crds/" + plural + ".janitor.dgxc.nvidia.com.yaml");
        // The roles of the aggregator are in the same file.
        TestCluster.apply(plane, "components/remediation-armed/janitor-rights.yaml");
        TestCluster.node(plane, node);
        plane.client().patch("node/" + node, "{\"spec\": {\"unschedulable\": true}}");
        plane.client().apply("""
                {apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: %s, metadata: {name: %s}, spec: {nodeName: %s%s}}
                """.formatted(
                kind,
                node,
                node,
                kind.equals("GPUReset") ? ", selector: {uuids: [GPU-455d8f70-2051-db6c-0430-ffc457bff834]}" : ""));
        String uid = plane.client().get(plural + "/" + node, ".metadata.uid");
        Act act = new Act(plural, node, uid, 1, node, plane.client().get("node/" + node, ".metadata.uid"), "gpuwarden");
        assertThat(gate(plane, act).refusal().orElseThrow()).contains("its lock to be held by " + plural);

        plane.client().apply("""
                {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: %s, namespace: gpuwarden,
                ownerReferences: [{apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: %s, name: %s, uid: "%s"}]}}
                """.formatted(node, kind, node, uid));
        assertThat(gate(plane, act).refusal()).isEmpty();
    }

    /** Returns the gate with the files and variables that a kubelet gives the pod of a Job. */
    private MaintenanceGate gate(ControlPlane plane, Act act) throws IOException {
        Files.writeString(folder.resolve("token"), plane.token("gpuwarden", ACCOUNT));
        Files.write(folder.resolve("ca.crt"), Files.readAllBytes(plane.caCertificate()));
        URI url = URI.create(plane.url());
        Map<String, String> environment = Map.of(
                "KUBERNETES_SERVICE_HOST", url.getHost(), "KUBERNETES_SERVICE_PORT", String.valueOf(url.getPort()));
        Optional<KubeAccess> access = KubeAccess.ofPod(environment, folder);
        return new MaintenanceGate(act, access, Duration.ofSeconds(30));
    }
}
