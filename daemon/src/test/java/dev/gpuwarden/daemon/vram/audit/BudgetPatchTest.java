package dev.gpuwarden.daemon.vram.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.YamlSection;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.Manifests;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The container that a proposed budget goes to, and workloads that get none. */
class BudgetPatchTest {

    private static final long MIB = 1L << 20;
    private static final String RESOURCE = "gpuwarden.dev/vram-mib";

    private static WorkloadUse use(String gpu, String workload, long samples) {
        return new WorkloadUse(gpu, workload, Reading.of(5000 * MIB), samples, 4455 * MIB, 6996 * MIB, 6996 * MIB);
    }

    /** Returns the patches in words, or the reasons for none. */
    private static List<String> patches(String yaml, WorkloadUse... uses) {
        Manifests manifests = new Manifests(RESOURCE);
        YamlSection.readManifests(
                "manifest", new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)), manifests::add);
        return BudgetPatch.of(List.of(uses), manifests.workloads(), RESOURCE).stream()
                .map(patch -> patch.object() instanceof Reading.Absent<?> none
                        ? none.detail()
                        : patch.object().asOptional().orElseThrow().toString())
                .toList();
    }

    private static String patch(String kind, String containers) {
        return patches("""
                        kind: %s
                        metadata: {name: llama}
                        spec: {template: {spec: {containers: %s}}}
                        """.formatted(kind, containers), use("GPU-1", "media/" + kind + "/llama", 9))
                .get(0);
    }

    @Test
    void theContainerWithTheBudgetGetsTheNewOne() {
        assertThat(patch(
                        "Deployment",
                        "[{name: web, resources: {limits: {nvidia.com/gpu: 1}}}, {name: llm, resources: {limits: {"
                                + RESOURCE + ": 5000}}}]"))
                .contains(
                        "apiVersion=apps/v1, kind=Deployment, metadata={name=llama}",
                        "name=llm",
                        "limits={" + RESOURCE + "=7744}",
                        "requests={" + RESOURCE + "=7744}")
                .doesNotContain("web");
    }

    @Test
    void aWorkloadWithoutABudgetGetsItWithItsGpu() {
        assertThat(patch("StatefulSet", "[{name: web}, {name: llm, resources: {limits: {nvidia.com/gpu: 1}}}]"))
                .contains("name=llm");
        assertThat(patch("StatefulSet", "[{name: llm}]")).contains("name=llm");
    }

    @Test
    void anAmbiguousContainerIsNamed() {
        String budget = "resources: {limits: {" + RESOURCE + ": 1}}";
        assertThat(patch("Deployment", "[{name: a}, {name: b}]"))
                .isEqualTo("it has 2 containers, and not one of them alone has a GPU");
        assertThat(patch("Deployment", "[{name: a, " + budget + "}, {name: b, " + budget + "}]"))
                .isEqualTo("its budget is not in one container alone");
        assertThat(patch("Notebook", "[{name: a}]")).isEqualTo("a Notebook takes no strategic merge patch");
    }

    @Test
    void aWorkloadNeedsOneManifestAndOneGpu() {
        String manifest = "{kind: Deployment, metadata: {name: llama, namespace: other}, spec: {template: {spec: "
                + "{containers: [{name: a}]}}}}";
        assertThat(patches(manifest, use("GPU-1", "media/Deployment/llama", 9)))
                .containsExactly("expected one manifest of it, seen 0");
        assertThat(patches(
                        manifest, use("GPU-1", "other/Deployment/llama", 9), use("GPU-2", "other/Deployment/llama", 9)))
                .containsExactly("it held memory of 2 GPUs, and one number cannot name the amount of each");
        assertThat(patches(manifest, use("GPU-1", "other/Deployment/llama", 0))).isEmpty();
    }

    @Test
    void aManifestWithoutANamespaceFitsOneWorkload() {
        String manifest =
                "{kind: Deployment, metadata: {name: llama}, spec: {template: {spec: {containers: [{name: a}]}}}}";
        assertThat(patches(
                        manifest, use("GPU-1", "media/Deployment/llama", 9), use("GPU-1", "test/Deployment/llama", 9)))
                .containsOnly("its manifest names no namespace, and fits workloads of several");
    }
}
