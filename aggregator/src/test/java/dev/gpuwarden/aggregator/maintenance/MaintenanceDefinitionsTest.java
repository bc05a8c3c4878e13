package dev.gpuwarden.aggregator.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.ApiClient;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the shipped definitions, with a real API server. */
@Tag("api")
class MaintenanceDefinitionsTest {

    private static final Path DEFINITIONS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes/crds");
    private static final String UUID = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";

    private static ApiClient client() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        ApiClient client = ControlPlane.shared().client();
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            String plural = kind.resources().plural();
            client.apply(Files.readString(DEFINITIONS.resolve(plural + "." + MaintenanceKind.GROUP + ".yaml")));
        }
        return client;
    }

    private static String resource(String kind, String spec) {
        return "{apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: %s, metadata: {name: defined}, spec: %s}"
                .formatted(kind, spec);
    }

    @Test
    void aSpecCannotChange() throws Exception {
        ApiClient client = client();
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            String name = kind.resources().plural() + "/defined";
            client.apply(resource(kind.resources().kind(), "{nodeName: one}"));
            try {
                assertThatThrownBy(() -> client.patch(name, "{\"spec\": {\"nodeName\": \"two\"}}"))
                        .hasMessageContaining("spec cannot change");
                client.patch(name + "/status", """
                        {"status": {"phase": "Pending", "ofAnotherProgram": 1, "conditions": [{"type": "%s",
                        "status": "False", "reason": "Waits", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
                        """.formatted(kind.doneCondition()));
                assertThat(client.find(name, ".status.ofAnotherProgram"))
                        .as("fields of NVSentinel's later versions stay")
                        .isEqualTo("1");
            } finally {
                client.delete(name);
            }
        }
    }

    @Test
    void invalidSpecsAreRefused() throws Exception {
        ApiClient client = client();
        assertThatThrownBy(() -> client.apply(resource("GPUReset", "{nodeName: ''}")))
                .hasMessageContaining("spec.nodeName");
        assertThatThrownBy(() -> client.apply(resource("GPUReset", "{nodeName: one, selector: {uuids: [GPU-1]}}")))
                .hasMessageContaining("spec.selector.uuids[0]");
        assertThatThrownBy(
                        () -> client.apply(resource("GPUReset", "{nodeName: one, selector: {pciBusIDs: ['03:00.0']}}")))
                .hasMessageContaining("spec.selector.pciBusIDs[0]");
        assertThatThrownBy(() -> client.apply(
                        resource("GPUReset", "{nodeName: one, selector: {uuids: [%s, %s]}}".formatted(UUID, UUID))))
                .hasMessageContaining("uplicate");
        assertThatThrownBy(() -> client.apply(resource("RebootNode", "{force: true}")))
                .hasMessageContaining("spec.nodeName");
    }
}
