package dev.gpuwarden.checks.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildCheckTest {

    /** The file system of a container can be read-only, except for its shared memory. */
    @Test
    void stateIsWrittenToTheFirstFolderThatTakesIt(@TempDir Path folder) throws Exception {
        Path missing = folder.resolve("missing");
        Path file = ChildCheck.write(List.of(missing, folder), "{}");
        assertThat(file).hasParent(folder).hasContent("{}");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThatThrownBy(() -> ChildCheck.write(List.of(missing, missing.resolve("second")), "{}"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(missing + ": ")
                .hasMessageContaining("second: ");
    }
}
