package dev.gpuwarden.checks.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeFactsTest {

    @Test
    void theCpuModelIsTheFirstProcessorsModelName(@TempDir Path procfs) throws Exception {
        Files.writeString(
                procfs.resolve("cpuinfo"),
                "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C\nstepping\t: 8\n\n"
                        .repeat(4));
        assertThat(NodeFacts.cpuModel(NodePaths.of(procfs, procfs, procfs)))
                .isEqualTo("Intel(R) Xeon(R) Platinum 8480C");
    }

    @Test
    void theCpuModelIsEmptyWithoutAModelName(@TempDir Path procfs) throws Exception {
        assertThat(NodeFacts.cpuModel(NodePaths.of(procfs, procfs, procfs))).isEmpty();
        Files.writeString(procfs.resolve("cpuinfo"), "processor\t: 0\nCPU implementer\t: 0x41\n");
        assertThat(NodeFacts.cpuModel(NodePaths.of(procfs, procfs, procfs))).isEmpty();
    }
}
