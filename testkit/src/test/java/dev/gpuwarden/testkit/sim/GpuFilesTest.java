package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class GpuFilesTest {

    private static Object identity(Path file) throws IOException {
        return Files.getAttribute(file, "unix:ino");
    }

    @Test
    void eachGpuHasAFileByItsMinorNumber() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            Path lib = node.libraryPath().resolveSibling("nvidia7");
            assertThat(identity(node.root().resolve("dev/nvidia7"))).isEqualTo(identity(lib));
            assertThat(node.root().resolve("dev/nvidia8")).doesNotExist();
            node.set("gpu.7.minor", "9");
            assertThat(identity(node.root().resolve("dev/nvidia9"))).isNotEqualTo(identity(lib));
            node.set("gpu.7.minor", "7");
            assertThat(identity(node.root().resolve("dev/nvidia7"))).isEqualTo(identity(lib));
        }
    }
}
