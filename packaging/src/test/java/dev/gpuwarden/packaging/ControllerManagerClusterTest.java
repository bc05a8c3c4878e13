package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.cluster.ApiClient;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.Component;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.JsonPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shipped manifests on which a controller manager acts: it checks the types of admission policies, and adds roles to others. */
@Tag("api")
class ControllerManagerClusterTest {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");

    private static final Pattern POLICY = Pattern.compile("kind: ValidatingAdmissionPolicy\nmetadata:\n  name: (\\S+)");

    private static final String AGGREGATOR = "system:serviceaccount:gpuwarden:gpuwarden-aggregator";

    @TempDir
    static Path folder;

    private static @Nullable ControlPlane plane;

    @BeforeAll
    static void start() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing(Component.CONTROLLER_MANAGER);
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.start(folder.resolve("plane"), Component.CONTROLLER_MANAGER);
        client().apply("{apiVersion: v1, kind: Namespace, metadata: {name: gpuwarden}}");
    }

    @AfterAll
    static void end() {
        if (plane != null) {
            plane.close();
        }
    }

    private static ApiClient client() {
        return Objects.requireNonNull(plane).client();
    }

    private static List<Path> manifests() throws IOException {
        try (Stream<Path> all = Files.walk(MANIFESTS)) {
            return all.filter(file -> file.toString().endsWith(".yaml")).toList();
        }
    }

    @Test
    void noExpressionHasATypeWarning() throws Exception {
        int checked = 0;
        for (Path file : manifests()) {
            String text = Files.readString(file);
            List<String> names = POLICY.matcher(text)
                    .results()
                    .map(policy -> policy.group(1))
                    .toList();
            if (!names.isEmpty()) {
                client().apply(text);
            }
            for (String name : names) {
                String policy = "validatingadmissionpolicy/" + name;
                client().await(policy, ".status.observedGeneration", "1");
                assertThat(client().find(policy, ".status.typeChecking.expressionWarnings"))
                        .as("warnings of %s in %s", name, file.getFileName())
                        .isEmpty();
                checked++;
            }
        }
        assertThat(checked).as("shipped policies").isGreaterThanOrEqualTo(3);
    }

    private static boolean mayCreate(String group, String resource) {
        return JsonPath.text(client().create("""
                                {apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: "%s",
                                resourceAttributes: {group: "%s", resource: "%s", verb: create}}}
                                """.formatted(AGGREGATOR, group, resource)), ".status.allowed")
                .equals("true");
    }

    @Test
    void roleWithTheLabelGivesItsRightsForTemplatesToTheAggregator() throws Exception {
        client().apply(Files.readString(MANIFESTS.resolve("components/remediation-templates/rights.yaml")));
        assertThat(mayCreate("example.org", "tickets")).isFalse();
        client().apply("""
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRole
                metadata: {name: tickets, labels: {gpuwarden.dev/aggregate-to-remediation: "true"}}
                rules: [{apiGroups: [example.org], resources: [tickets], verbs: [get, list, watch, create]}]
                """);
        Await.until(() -> mayCreate("example.org", "tickets"), "the role is added");
        assertThat(mayCreate("batch", "jobs")).as("of all namespaces").isFalse();
    }

    /** The driver manager of the GPU Operator sets the value before it unloads the driver, and awaits the end of the pods. */
    @Test
    void daemonLeavesANodeWhoseDriverTheOperatorUpgradesAndReturnsAfterwards() throws Exception {
        Path shipped = folder.toRealPath().relativize(MANIFESTS.toRealPath());
        Files.writeString(
                folder.resolve("kustomization.yaml"),
                "resources: [%1$s]\ncomponents: [%1$s/components/gpu-operator-client]\n".formatted(shipped));
        String rendered = Objects.requireNonNull(plane).kubectl("kustomize", folder.toString());
        for (String object : rendered.split("\n---\n")) {
            if (object.contains("\n  name: gpuwarden\n") && object.contains("kind: ServiceAccount\n")
                    || object.contains("kind: DaemonSet\n")) {
                client().apply(object);
            }
        }
        client().apply("""
                apiVersion: v1
                kind: Node
                metadata: {name: gpu-1, labels: {nvidia.com/gpu.present: "true", nvidia.com/gpu.deploy.client: "true"}}
                """);
        String before = podOfTheDaemon();
        // Like a scheduler: the controller ends no pod that has no node yet.
        client().post("pod/gpuwarden/" + before + "/binding", """
                {"metadata": {"name": "%s"}, "target": {"kind": "Node", "name": "gpu-1"}}
                """.formatted(before));
        client().patch("node/gpu-1", labelled("paused-for-driver-upgrade"));
        client().await("pod/gpuwarden/" + before, ".metadata.deletionTimestamp", "a time", time -> !time.isEmpty());
        // Like a kubelet after the end of the program.
        client().deleteNow("pod/gpuwarden/" + before);
        client().await("daemonset/gpuwarden/gpuwarden", ".status.desiredNumberScheduled", "0");
        client().patch("node/gpu-1", labelled("true"));
        assertThat(podOfTheDaemon()).isNotEqualTo(before);
    }

    private static String labelled(String value) {
        return "{\"metadata\": {\"labels\": {\"nvidia.com/gpu.deploy.client\": \"" + value + "\"}}}";
    }

    private static String podOfTheDaemon() {
        client().await("pods/gpuwarden", ".items[0].metadata.name", "a pod", name -> !name.isEmpty());
        return client().get("pods/gpuwarden", ".items[0].metadata.name");
    }
}
