package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("programs")
class ProgramTest {

    private static final String TAKES_LEAVE = """
            trap 'sleep 0.5; echo bye; exit 0' TERM
            echo hello
            while :; do sleep 0.05; done
            """;

    @TempDir
    Path folder;

    @Test
    void programEndsOnSigtermAndKeepsFolder() throws InterruptedException {
        Path log = folder.resolve("sh.log");
        try (Program program = Program.start(folder, "sh", "", List.of("/bin/sh", "-c", TAKES_LEAVE))) {
            program.await(Duration.ofMinutes(1), "a word", () -> text(log).contains("hello"));
        }
        assertThat(text(log).lines()).containsExactly("hello", "bye");
    }

    @Test
    void anInterruptFromBeforeTakesNoGraceFromItsEnd() {
        Path log = folder.resolve("sh.log");
        Program program = Program.start(folder, "sh", "", List.of("/bin/sh", "-c", TAKES_LEAVE));
        program.await(Duration.ofMinutes(1), "a word", () -> text(log).contains("hello"));
        Thread.currentThread().interrupt();
        assertThatIllegalStateException()
                .isThrownBy(() -> program.await(Duration.ofMinutes(1), "a leave", () -> false))
                .withMessage("sh: expected a leave, interrupted before");
        program.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(text(log).lines()).containsExactly("hello", "bye");
    }

    @Test
    void anInterruptFromBeforeDoesNotCutTheWaitForAKill() {
        Program program = Program.start(folder, "sh", "", List.of("/bin/sh", "-c", TAKES_LEAVE));
        Thread.currentThread().interrupt();
        program.kill();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(program.running()).isFalse();
    }

    private static String text(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
