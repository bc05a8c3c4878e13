package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.app.ChildJvm;
import dev.gpuwarden.daemon.command.ResetRuns.Ended;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The evidence that a failed reset keeps, and that a node keeps before its reboot. */
@Tag("programs")
class ResetEvidenceCommandTest {

    @TempDir
    Path folder;

    private SimulatedNode node;
    private ResetRuns runs;

    @BeforeEach
    void begin() {
        node = SimulatedNode.start("l4x4");
        runs = new ResetRuns(node, folder);
    }

    @AfterEach
    void end() {
        node.close();
    }

    @Test
    void failureKeepsItsEvidence() throws Exception {
        Path bundles = folder.resolve("state/bundles");
        Path smi = Files.createDirectories(folder.resolve("driver")).resolve("nvidia-smi");
        ResetRuns.script(
                smi, "case \"$*\" in *--gpu-reset*) echo GPU is lost; exit 15;; *-q*) echo all about $3;; esac");
        node.logKernel("NVRM: Xid (PCI:0000:2d:00): 79, GPU has fallen off the bus");
        node.logKernel("eth0: link is up");
        String[] words = {"1", "--arm", "--reset.nvidia-smi=" + smi, "--reset.bundle=" + bundles};
        Ended without = runs.reset(words);
        assertThat(without.code()).as(without.err()).isEqualTo(1);
        assertThat(without.err())
                .containsSubsequence(
                        "failed at the step reset: ", "failed at the step reset: ", "; evidence in " + bundles);
        Map<String, String> files = unzipped(bundles);
        assertThat(files.keySet()).containsExactly("README.txt", "reset.json", "kernel-log.txt", "nvidia-smi.txt");
        assertThat(files.get("README.txt")).contains("nvidia-bug-report.sh: missing: ", "is absent beside nvidia-smi");
        assertThat(files.get("reset.json")).contains("GPU is lost");
        assertThat(files.get("kernel-log.txt"))
                .contains("79, GPU has fallen off")
                .doesNotContain("eth0");
        assertThat(files.get("nvidia-smi.txt")).isEqualTo("exit code 0\nall about " + runs.uuid(1) + "\n");
        assertThat(without.report().get("evidence")).isEqualTo("evidence in " + newest(bundles));
    }

    @Test
    void bundleKeepsTheEvidenceOfANodeBeforeItsReboot() throws Exception {
        Path bundles = folder.resolve("state/bundles");
        Path smi = Files.createDirectories(folder.resolve("driver")).resolve("nvidia-smi");
        ResetRuns.script(smi, "echo all about $*");
        node.logKernel("NVRM: Xid (PCI:0000:2d:00): 79, GPU has fallen off the bus");
        ProcessBuilder builder = ChildJvm.gpuwarden(
                List.of("bundle", bundles.toString(), "--name=reboot-1", "--reset.nvidia-smi=" + smi));
        builder.environment().putAll(node.environment());
        Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        assertThat(out).isEqualTo("evidence in " + bundles.resolve("bundle-reboot-1.zip") + "\n");
        Map<String, String> files = unzipped(bundles);
        assertThat(files.keySet()).containsExactly("README.txt", "kernel-log.txt", "nvidia-smi.txt");
        assertThat(files.get("README.txt")).startsWith("Evidence of the GPUs of this node at ");
        assertThat(files.get("kernel-log.txt")).contains("79, GPU has fallen off");
        assertThat(files.get("nvidia-smi.txt")).isEqualTo("exit code 0\nall about -q\n");
    }

    private static Path newest(Path bundles) throws IOException {
        try (Stream<Path> all = Files.list(bundles)) {
            return all.max(Path::compareTo).orElseThrow();
        }
    }

    private static Map<String, String> unzipped(Path bundles) throws IOException {
        Map<String, String> files = new LinkedHashMap<>();
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(newest(bundles)))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                files.put(entry.getName(), new String(zip.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        return files;
    }
}
