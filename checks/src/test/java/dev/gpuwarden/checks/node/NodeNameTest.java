package dev.gpuwarden.checks.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeNameTest {

    @TempDir
    Path folder;

    @Test
    void optionOverridesEnvironmentWhichOverridesHostName() throws IOException {
        Path host = Files.writeString(folder.resolve("hostname"), "metal-7\n");
        assertThat(NodeName.choose("gpu-1", Optional.of("gpu-2"), host)).isEqualTo("gpu-1");
        assertThat(NodeName.choose("", Optional.of("gpu-2"), host)).isEqualTo("gpu-2");
        assertThat(NodeName.choose("", Optional.of(""), host)).isEqualTo("metal-7");
        assertThat(NodeName.choose(" ", Optional.empty(), host)).isEqualTo("metal-7");
    }

    @Test
    void isNeverEmpty() throws IOException {
        assertThat(NodeName.choose("", Optional.empty(), folder.resolve("none")))
                .isEqualTo("localhost");
        assertThat(NodeName.choose("", Optional.empty(), Files.writeString(folder.resolve("empty"), "\n")))
                .isEqualTo("localhost");
    }
}
