package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.trace.Trace;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real kustomize takes the output of `vram audit --patch`. */
@Tag("api")
class VramPatchKustomizeTest {

    private static final String MANIFEST = """
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: llama, namespace: media}
            spec:
              template:
                spec:
                  containers:
                    - name: llm
                      image: llm
                      resources:
                        requests: {gpuwarden.dev/vram-mib: 5000}
                        limits: {gpuwarden.dev/vram-mib: 5000, nvidia.com/gpu: 1}
                    - {name: proxy, image: proxy}
            """;

    @TempDir
    Path folder;

    private Path trace() throws Exception {
        Path file = folder.resolve("trace");
        try (OutputStream out = Files.newOutputStream(file)) {
            Trace.Writer writer = new Trace.Writer(out, VramStory.HEADER);
            for (int i = 1; i <= 20; i++) {
                List<Tenant> tenants =
                        List.of(tenant("media/Deployment/llama", 6996), tenant("media/Deployment/other", 100));
                writer.write(new GpuObservation("GPU-t4", i, i, VramFixture.memory(7000), Reading.of(tenants), i));
            }
        }
        return file;
    }

    private static Tenant tenant(String workload, long usedMib) {
        return new Tenant(
                "pod:" + workload,
                workload,
                workload,
                Reading.of(5000L << 20),
                Reading.of(usedMib << 20),
                Set.of(new ProcessKey(1, 1)),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
    }

    @Test
    void kustomizeAppliesTheProposedBudget() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        Path manifest = Files.writeString(folder.resolve("deployment.yaml"), MANIFEST);
        Program audit = Program.run("vram", "audit", trace().toString(), "--patch=" + manifest);
        assertThat(audit.exitCode()).as(audit.err()).isEqualTo(1);
        assertThat(audit.out())
                .contains(
                        "# media/Deployment/llama: p95 6996 MiB, largest 6996 MiB of 20 readings; budget now 5000 MiB")
                .contains("# no patch for media/Deployment/other: expected one manifest of it, seen 0");
        Files.writeString(folder.resolve("budgets.yaml"), audit.out());
        Files.writeString(
                folder.resolve("kustomization.yaml"),
                "{resources: [deployment.yaml], patches: [{path: budgets.yaml}]}");
        Execution kustomize = Execution.of(
                new ProcessBuilder(Binaries.ofUser().path("kubectl").toString(), "kustomize", folder.toString())
                        .redirectErrorStream(true)
                        .start());
        assertThat(kustomize.code()).as(kustomize.output()).isZero();
        assertThat(kustomize.output())
                .containsPattern("limits:\\s+gpuwarden.dev/vram-mib: \"7744\"\\s+nvidia.com/gpu: 1")
                .containsPattern("requests:\\s+gpuwarden.dev/vram-mib: \"7744\"")
                .contains("name: proxy");
    }
}
