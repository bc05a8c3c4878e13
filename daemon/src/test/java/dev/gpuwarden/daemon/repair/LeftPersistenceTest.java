package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.daemon.reset.PersistenceRecord;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeftPersistenceTest {

    private static final String TASK = "turn on persistence mode of GPU-a, which a reset that was killed has left off"
            + " (gpuwarden gpu-reset --restore --arm)";

    @TempDir
    Path folder;

    private LeftPersistence left(String boot) {
        ResetRun run =
                new ResetRun(RepairProcess.child, Duration.ZERO, List::of, Optional.empty(), ProgramRunner.PROCESSES);
        return new LeftPersistence(folder, new PersistenceRecord(folder, boot), run, Clock.systemUTC());
    }

    private void record(String gpus) throws IOException {
        Files.writeString(
                folder.resolve("gpu-reset-persistence.json"),
                "{\"schema\": \"gpuwarden.persistence/v1\", \"bootId\": \"one\", \"gpus\": " + gpus + "}");
    }

    @Test
    void dryRunNamesTheGpusOfThisBootAlone() throws Exception {
        assertThat(left("one").restore(false)).isEmpty();
        record("[\"GPU-a\"]");
        assertThat(left("one").restore(false)).contains(TASK);
        assertThat(left("two").restore(false)).isEmpty();
        record("[\"a\"]");
        assertThat(left("one").restore(true))
                .hasValueSatisfying(task -> assertThat(task).startsWith("repair the record of resets: " + folder));
    }

    @Test
    void recordOfAResetThatStillRunsIsNotTouched() throws Exception {
        record("[\"GPU-a\"]");
        try (FileChannel other = FileChannel.open(
                folder.resolve("gpu-reset.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            assertThat(other.tryLock()).isNotNull();
            assertThat(left("one").isResetting()).isTrue();
            assertThat(left("one").restore(true)).isEmpty();
        }
        assertThat(left("one").isResetting()).isFalse();
    }

    @Test
    void failureIsATaskOfTheOperator() throws Exception {
        record("[\"GPU-a\"]");
        LeftPersistence left = left("one");
        // No driver, and no program of it.
        assertThat(left.restore(true))
                .hasValueSatisfying(task -> assertThat(task).startsWith(TASK + ": gpu-reset ended with code "));
        assertThat(folder.resolve("gpu-reset-persistence.json")).exists();
    }
}
