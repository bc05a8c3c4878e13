package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class FileErrorsTest {

    @Test
    void theReasonIsNamedAndNotTheFile() {
        assertThat(FileErrors.why(new AccessDeniedException("a.yaml"))).isEqualTo("no permission");
        assertThat(FileErrors.why(new NoSuchFileException("a.yaml"))).isEqualTo("no such file");
        assertThat(FileErrors.why(new FileSystemException("a.yaml", null, "Read-only file system")))
                .isEqualTo("Read-only file system");
        assertThat(FileErrors.why(new IOException("Is a directory"))).isEqualTo("Is a directory");
        assertThat(FileErrors.why(new IOException())).isEqualTo("IOException");
    }
}
