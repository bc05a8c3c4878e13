package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class FileTroubleTest {

    @Test
    void theReasonIsNamedAndNotTheFile() {
        assertThat(FileTrouble.why(new AccessDeniedException("a.yaml"))).isEqualTo("no permission");
        assertThat(FileTrouble.why(new NoSuchFileException("a.yaml"))).isEqualTo("no such file");
        assertThat(FileTrouble.why(new FileSystemException("a.yaml", null, "Read-only file system")))
                .isEqualTo("Read-only file system");
        assertThat(FileTrouble.why(new IOException("Is a directory"))).isEqualTo("Is a directory");
        assertThat(FileTrouble.why(new IOException())).isEqualTo("IOException");
    }
}
