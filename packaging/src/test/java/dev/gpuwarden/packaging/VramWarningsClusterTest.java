package dev.gpuwarden.packaging;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The warnings of the component vram-warnings, from a real API server. */
@Tag("api")
class VramWarningsClusterTest {

    private static final String POLICY = "components/vram-warnings/policy.yaml";
    private static final String FOLLOWS =
            "Warning: Validation failed for ValidatingAdmissionPolicy 'gpuwarden-vram' with"
                    + " binding 'gpuwarden-vram': ";

    private static final String TWO_GPUS =
            "{name: a, image: a, resources: {limits: {nvidia.com/gpu: 2, gpuwarden.dev/vram-mib: %s}}}";

    private static ControlPlane plane;

    @TempDir
    static Path folder;

    @BeforeAll
    static void prepare() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.shared();
        plane.client().apply("{apiVersion: v1, kind: Namespace, metadata: {name: gpuwarden}}");
        plane.client().apply("{apiVersion: v1, kind: Namespace, metadata: {name: vram-warnings}}");
        plane.client()
                .apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: vram-warnings}}");
        Path manifests = Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");
        plane.client().apply(Files.readString(manifests.resolve(POLICY)));
        card("13374");
        waitForCard();
    }

    /** Sets the parameter; a policy has it a moment later. */
    private static void card(String mebibytes) {
        plane.client().apply("""
                apiVersion: v1
                kind: ConfigMap
                metadata: {name: gpuwarden-vram, namespace: gpuwarden}
                data: {resource: gpuwarden.dev/vram-mib, largest-card-mib: "%s"}
                """.formatted(mebibytes));
    }

    private static void waitForCard() {
        until(() ->
                warnings(deployment("above", "{type: Recreate}", "13375")).contains(above("Deployment above", 13375)));
    }

    @AfterAll
    static void remove() {
        for (String object : List.of(
                "validatingadmissionpolicybinding/gpuwarden-vram", "validatingadmissionpolicy/gpuwarden-vram")) {
            plane.kubectl("delete", object);
        }
    }

    @Test
    void budgetsThatFitHaveNoWarning() {
        assertThat(warnings(
                        deployment("fits", "{type: Recreate}", "13374"),
                        deployment("no-surge", "{rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", "5k"),
                        deployment("no-percent", "{rollingUpdate: {maxSurge: 0%, maxUnavailable: 1}}", "5k"),
                        deployment("none", "{}", "0"),
                        deployment("stopped", "{}", "5k").replace("replicas: 1", "replicas: 0"),
                        pod("pod", "{name: a, image: a}", limits("b", "5000")),
                        pod("two-cards", TWO_GPUS.formatted("26k")),
                        """
                        apiVersion: apps/v1
                        kind: StatefulSet
                        metadata: {name: store}
                        spec:
                          serviceName: store
                          selector: {matchLabels: {app: a}}
                          template:
                            metadata: {labels: {app: a}}
                            spec: {containers: [%s]}
                        """.formatted(limits("a", "5000"))))
                .isEmpty();
    }

    @Test
    void aBudgetAboveTheLargestCardIsNamed() {
        assertThat(warnings(
                        deployment("above", "{type: Recreate}", "13375"),
                        pod("sum", limits("a", "8k"), limits("b", "6k")),
                        pod("two-cards", TWO_GPUS.formatted("27k")),
                        """
                        apiVersion: v1
                        kind: Pod
                        metadata: {name: load}
                        spec: {initContainers: [%s], containers: [%s]}
                        """.formatted(limits("load", "14e3"), limits("a", "10")),
                        """
                        apiVersion: batch/v1
                        kind: CronJob
                        metadata: {name: nightly}
                        spec:
                          schedule: 0 0 * * *
                          jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [%s]}}}}
                        """.formatted(limits("a", "20k"))))
                .containsExactly(
                        above("Deployment above", 13375),
                        above("Pod sum", 14000),
                        above("Pod two-cards", 27000),
                        above("Pod load", 14000),
                        above("CronJob nightly", 20000));
    }

    private static String above(String name, int budget) {
        return FOLLOWS + name + ": a budget of " + budget
                + " MiB for each pod is more than the largest card has (13374 MiB);"
                + " its pods stay Pending, or start on a card that is too small";
    }

    @Test
    void anUpdateThatStartsPodsFirstIsNamed() {
        List<String> warnings = warnings(
                deployment("default", "{}", "5k"),
                deployment("one", "{rollingUpdate: {maxSurge: 1}}", "5k"),
                """
                apiVersion: apps/v1
                kind: DaemonSet
                metadata: {name: encoder}
                spec:
                  selector: {matchLabels: {app: a}}
                  updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
                  template:
                    metadata: {labels: {app: a}}
                    spec: {containers: [%s]}
                """.formatted(limits("a", "5000")));
        assertThat(warnings)
                .hasSize(3)
                .allMatch(warning -> warning.contains("where less than 5000 MiB is left"))
                .satisfiesExactly(
                        warning -> assertThat(warning).contains("Deployment default: ", "(maxSurge 25%)"),
                        warning -> assertThat(warning).contains("Deployment one: ", "(maxSurge 1)"),
                        warning -> assertThat(warning).contains("DaemonSet encoder: ", "(maxSurge 1)"));
    }

    @Test
    void aParameterThatIsNoNumberIsNamedAndAnEmptyOneComparesNothing() {
        String above = deployment("above", "{type: Recreate}", "99k");
        card("a lot");
        String wrong = FOLLOWS + "ConfigMap gpuwarden-vram: expected a number of MiB as largest-card-mib, seen 'a lot';"
                + " budgets are not compared with it";
        until(() -> warnings(above).equals(List.of(wrong)));
        card("");
        until(() -> warnings(above).isEmpty());
        card("13374");
        waitForCard();
    }

    /** Applies the objects in a dry run of the API server; returns its warnings in their order. */
    private static List<String> warnings(String... objects) {
        try {
            Path file = Files.writeString(folder.resolve("objects.yaml"), String.join("---\n", objects));
            plane.kubectl(
                    "create",
                    "--namespace=vram-warnings",
                    "--dry-run=server",
                    "--warnings-as-errors",
                    "--filename",
                    file.toString());
            return List.of();
        } catch (IllegalStateException e) {
            List<String> lines = e.getMessage().lines().toList();
            assertThat(lines)
                    .as("only warnings: %s", e.getMessage())
                    .noneMatch(line -> line.contains("Error from server"));
            return lines.stream()
                    .filter(line -> line.contains("Warning: "))
                    .map(line -> line.substring(line.indexOf("Warning: ")))
                    .toList();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static String limits(String name, String budget) {
        return "{name: %s, image: a, resources: {limits: {gpuwarden.dev/vram-mib: %s}}}".formatted(name, budget);
    }

    private static String pod(String name, String... containers) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec: {containers: [%s]}
                """.formatted(name, String.join(", ", containers));
    }

    private static String deployment(String name, String strategy, String budget) {
        return """
                apiVersion: apps/v1
                kind: Deployment
                metadata: {name: %s}
                spec:
                  replicas: 1
                  strategy: %s
                  selector: {matchLabels: {app: a}}
                  template:
                    metadata: {labels: {app: a}}
                    spec: {containers: [%s]}
                """.formatted(name, strategy, limits("a", budget));
    }
}
