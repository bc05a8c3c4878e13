package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.Component;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The type check of all shipped admission policies, by a real controller manager. */
@Tag("api")
@Timeout(120)
class AdmissionPoliciesClusterTest {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");

    private static final Pattern POLICY = Pattern.compile("kind: ValidatingAdmissionPolicy\nmetadata:\n  name: (\\S+)");

    @TempDir
    Path folder;

    private static List<Path> manifests() throws IOException {
        try (Stream<Path> all = Files.walk(MANIFESTS)) {
            return all.filter(file -> file.toString().endsWith(".yaml")).toList();
        }
    }

    @Test
    void noExpressionHasATypeWarning() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing(Component.CONTROLLER_MANAGER);
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        int checked = 0;
        try (ControlPlane plane = ControlPlane.start(folder.resolve("plane"), Component.CONTROLLER_MANAGER)) {
            plane.client().apply("{apiVersion: v1, kind: Namespace, metadata: {name: gpuwarden}}");
            for (Path file : manifests()) {
                String text = Files.readString(file);
                List<String> names = POLICY.matcher(text)
                        .results()
                        .map(policy -> policy.group(1))
                        .toList();
                if (!names.isEmpty()) {
                    plane.client().apply(text);
                }
                for (String name : names) {
                    String policy = "validatingadmissionpolicy/" + name;
                    plane.client().await(policy, ".status.observedGeneration", "1");
                    assertThat(plane.client().find(policy, ".status.typeChecking.expressionWarnings"))
                            .as("warnings of %s in %s", name, file.getFileName())
                            .isEmpty();
                    checked++;
                }
            }
        }
        assertThat(checked).as("shipped policies").isGreaterThanOrEqualTo(3);
    }
}
