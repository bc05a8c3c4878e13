package dev.gpuwarden.daemon.vram;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.cli.YamlSection;
import dev.gpuwarden.testkit.cluster.ApiClient;
import dev.gpuwarden.testkit.cluster.ApiException;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.JsonPath;
import dev.gpuwarden.watchdog.lint.BudgetLint;
import dev.gpuwarden.watchdog.lint.LintFinding;
import dev.gpuwarden.watchdog.lint.LintRules;
import dev.gpuwarden.watchdog.lint.Workload;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A budget that the lint calls refused is refused by a real API server, and no other is. */
@Tag("api")
class LintAgreesWithApiServerTest {

    private static final String RESOURCE = "gpuwarden.dev/vram-mib";
    private static final LintRules RULES = new LintRules(RESOURCE, Optional.empty(), Map.of());

    private static ApiClient api;

    @BeforeAll
    static void prepare() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        api = ControlPlane.shared().client();
        api.apply("{apiVersion: v1, kind: Namespace, metadata: {name: lint-agrees}}");
        api.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: lint-agrees}}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"5000", "\"5k\"", "\"1e3\"", "\"5E3\"", "\" 5 \"", "\"1000m\"", "0", "\"k\"", "\"4Gi\""})
    void takesAWholeNumber(String budget) {
        String pod = pod("{limits: {" + RESOURCE + ": " + budget + "}}", "{}");
        assertThat(refusals(pod)).isZero();
        assertThat(api.create(pod)).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{limits: {R: \"0.5\"}}",
                "{limits: {R: \"1500m\"}}",
                "{limits: {R: \"1n\"}}",
                "{limits: {R: \"-5\"}}",
                "{limits: {R: \"5 k\"}}",
                "{limits: {R: \"5K\"}}",
                "{limits: {R: lots}}",
                "{requests: {R: 5000}}",
                "{requests: {R: 4000}, limits: {R: 5000}}",
                "{requests: {R: 6000}, limits: {R: 5000}}"
            })
    void refusesAnotherOne(String resources) {
        refused(pod(resources.replace("R", RESOURCE), "{}"));
    }

    @Test
    void refusesTheResourceOfAPodAsAWhole() {
        refused(pod("{}", "{limits: {" + RESOURCE + ": 5000}}"));
    }

    @Test
    void writesTheRequestAndTheShortestText() {
        Map<String, Object> pod = api.create(pod("{limits: {" + RESOURCE + ": 5000}}", "{}"));
        String resources = ".spec.containers[0].resources";
        assertThat(JsonPath.text(pod, resources + ".limits.gpuwarden\\.dev/vram-mib"))
                .isEqualTo("5k");
        assertThat(JsonPath.text(pod, resources + ".requests.gpuwarden\\.dev/vram-mib"))
                .isEqualTo("5k");
    }

    private static void refused(String pod) {
        assertThat(refusals(pod)).isPositive();
        assertThatThrownBy(() -> api.create(pod)).isInstanceOf(ApiException.class);
    }

    /** Returns how many findings state that the API server refuses the pod. */
    private static long refusals(String pod) {
        Manifests manifests = new Manifests(RESOURCE);
        YamlSection.readManifests(
                "pod", new ByteArrayInputStream(pod.getBytes(StandardCharsets.UTF_8)), manifests::add);
        Workload workload = manifests.workloads().get(0);
        return BudgetLint.judge(workload, RULES).stream()
                .filter(finding -> finding.rule().fails() && finding.rule() != LintFinding.Rule.UNIT)
                .count();
    }

    private static String pod(String ofContainer, String ofPod) {
        return """
                {apiVersion: v1, kind: Pod, metadata: {generateName: a-, namespace: lint-agrees},
                 spec: {resources: %s, containers: [{name: a, image: a, resources: %s}]}}
                """.formatted(ofPod, ofContainer);
    }
}
