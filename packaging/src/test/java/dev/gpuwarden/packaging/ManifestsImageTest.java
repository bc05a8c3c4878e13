package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The manifests in the image, applied to a real API server. */
@Tag("image")
class ManifestsImageTest {

    private static final Path MANIFESTS = Image.built().home().resolve("share/kubernetes");
    private static final String CERTIFICATES = "gpuwarden-certificates";

    @TempDir
    Path folder;

    private ControlPlane plane;

    @BeforeEach
    void prepare() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.shared();
        // The definitions and the namespace come first, because the API server needs them for the others.
        plane.kubectl("apply", "--filename", MANIFESTS.resolve("crds").toString());
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s");
        plane.apply("{apiVersion: v1, kind: Namespace, metadata: {name: gpuwarden}}");
    }

    @Test
    void theApiServerAcceptsEveryManifest() throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.walk(MANIFESTS)) {
            files = all.filter(file -> file.toString().endsWith(".yaml") && !file.endsWith("kustomization.yaml"))
                    .filter(file -> !file.endsWith("remediation-templates/templates.yaml"))
                    .toList();
        }
        assertThat(files).hasSizeGreaterThan(5);
        for (Path file : files) {
            assertThat(plane.kubectl("apply", "--dry-run=server", "--filename", file.toString()))
                    .contains("(server dry run)");
        }
        assertThat(plane.kubectl("apply", "--dry-run=server", "--kustomize", MANIFESTS.toString()))
                .contains("deployment.apps/gpuwarden-aggregator ", "daemonset.apps/gpuwarden ")
                .doesNotContain(
                        "gpuwarden-aggregator-quarantine",
                        "gpuwarden-aggregator-drain",
                        "gpuwarden-aggregator-remediation");
        Files.writeString(folder.resolve("kustomization.yaml"), """
                resources: [%1$s]
                components:
                  - %1$s/components/quarantine-armed
                  - %1$s/components/drain-armed
                  - %1$s/components/drain-delete
                  - %1$s/components/remediation-armed
                  - %1$s/components/remediation-templates
                  - %1$s/components/vram-warnings
                  - %1$s/components/vram-advertise
                  - %1$s/components/vram-armed
                  - %1$s/components/vram-delete
                  - %1$s/components/gpu-operator-client
                  - %1$s/components/gke
                """.formatted(
                        folder.toRealPath().relativize(MANIFESTS.toRealPath())));
        assertThat(plane.kubectl("kustomize", folder.toString()))
                .contains(
                        "name: gpuwarden-aggregator-quarantine",
                        "name: gpuwarden-aggregator-drain",
                        "name: gpuwarden-vram")
                .contains("name: GPUWARDEN_QUARANTINE_MODE\n          value: armed")
                .contains("name: GPUWARDEN_DRAIN_MODE\n          value: armed")
                .contains("name: gpuwarden-aggregator-remediation")
                .contains("name: GPUWARDEN_REMEDIATION_MODE\n          value: armed")
                .contains("value: /etc/gpuwarden-remediation/templates.yaml", "name: vendor-ticket")
                .containsPattern("configMap:\\n *name: gpuwarden-remediation-templates-[a-z0-9]+\n")
                .contains("name: gpuwarden-aggregator-vram-advertise", "name: gpuwarden-aggregator-vram\n")
                .contains("name: GPUWARDEN_VRAM_EVICTIONS\n          value: armed")
                .contains("name: GPUWARDEN_VRAM_DELETE\n          value: \"on\"")
                .contains(
                        "kind: ResourceQuota", "mountPath: /usr/local/nvidia\n", "path: /home/kubernetes/bin/nvidia\n")
                .contains("nodeSelector:\n        nvidia.com/gpu.deploy.client: \"true\"")
                .contains("name: GPUWARDEN_VRAM_CAPACITY\n          value: \"on\"")
                .contains("name: GPUWARDEN_VRAM_ADVERTISE\n          value: \"on\"");
    }

    @Test
    void manifestsNameTheImageThatTheArchiveHas() throws Exception {
        String version = Image.built().run("--version").out().split("[ \n]")[1];
        for (String file : List.of("gpuwarden-aggregator.yaml", "gpuwarden-daemon.yaml")) {
            assertThat(Files.readString(MANIFESTS.resolve(file)))
                    .containsOnlyOnce(" image: ")
                    .contains(" image: localhost/gpuwarden:" + version + "\n");
        }
    }

    @Test
    void certificatesAreValidForTheServiceAndForRequestedNames() throws Exception {
        Scripts.Run run = Scripts.run(
                folder, Map.of(), CERTIFICATES, "--name", "aggregator.example", "--name", "10.1.2.3", "--days", "30");
        assertThat(run.code()).as(run.said()).isZero();
        String applied = plane.apply(run.out());
        assertThat(applied).contains("secret/gpuwarden-aggregator-tls ", "configmap/gpuwarden-aggregator-ca ");
        Files.writeString(folder.resolve("ca.crt"), one("configmap/gpuwarden-aggregator-ca", "{.data.ca\\.crt}"));
        Files.writeString(
                folder.resolve("tls.crt"),
                new String(
                        Base64.getDecoder().decode(one("secret/gpuwarden-aggregator-tls", "{.data.tls\\.crt}")),
                        StandardCharsets.US_ASCII));
        for (String name : List.of(
                "-verify_hostname gpuwarden-aggregator.gpuwarden.svc",
                "-verify_hostname aggregator.example",
                "-verify_ip 10.1.2.3")) {
            Scripts.must(folder, ("openssl verify -purpose sslserver -CAfile ca.crt " + name + " tls.crt").split(" "));
        }
        assertThat(Scripts.must(folder, "openssl", "x509", "-noout", "-text", "-in", "tls.crt"))
                .doesNotContain("CA:TRUE");
        assertThat(one("secret/gpuwarden-aggregator-tls", "{.type}")).isEqualTo("kubernetes.io/tls");
    }

    private String one(String object, String path) {
        return plane.kubectl("get", object, "--namespace=gpuwarden", "--output=jsonpath=" + path);
    }

    @Test
    void certificatesAreRefusedForInvalidNames() throws Exception {
        Scripts.Run run = Scripts.run(folder, Map.of(), CERTIFICATES, "--name", "a b");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.said()).matches(Pattern.compile(".*seen 'a b'\n", Pattern.DOTALL));
    }
}
