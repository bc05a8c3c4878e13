package dev.gpuwarden.aggregator.part;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.part.AuditLog.AuditTarget;
import dev.gpuwarden.cli.UserError;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuditLogTest {

    /** A file on a disk that is always full, which Linux has for tests. */
    private static final Path FULL = Path.of("/dev/full");

    @TempDir
    Path folder;

    private static byte[] record(int number) {
        return ("record " + number + "\n").getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void failedWriteToStandardOutputIsAnError() throws IOException {
        try (OutputStream full = new FileOutputStream(FULL.toFile())) {
            assertThatThrownBy(() -> AuditTarget.of(full).write(record(1))).isInstanceOf(IOException.class);
        }
    }

    @Test
    void eachFailedWriteToFileIsAnError() throws IOException {
        try (AuditFile file = AuditFile.open(FULL, 100)) {
            assertThatThrownBy(() -> file.write(record(1))).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> file.write(record(2))).isInstanceOf(IOException.class);
        }
    }

    @Test
    void fileThatCannotBeOpenedIsAUserError() {
        assertThatThrownBy(() -> AuditLog.open(folder)).isInstanceOf(UserError.class);
    }

    @Test
    void fullFileIsRotatedAndEightOlderFilesStay() throws IOException {
        Path path = folder.resolve("audit.jsonl");
        try (AuditFile file = AuditFile.open(path, 20)) {
            for (int i = 10; i < 40; i++) {
                file.write(record(i));
            }
        }
        assertThat(Files.readString(path)).isEqualTo("record 38\nrecord 39\n");
        assertThat(Files.readString(folder.resolve("audit.jsonl.1"))).isEqualTo("record 36\nrecord 37\n");
        try (var all = Files.list(folder)) {
            assertThat(all.map(each -> each.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(0, AuditFile.OLDER)
                            .mapToObj(i -> i == 0 ? "audit.jsonl" : "audit.jsonl." + i)
                            .toList());
        }
    }

    /** A record that an earlier process left unfinished is removed. */
    @ParameterizedTest
    @ValueSource(strings = {"before\n", "before\nrec"})
    void recordsFollowThoseOfAnEarlierProcess(String before) throws IOException {
        Path path = Files.writeString(folder.resolve("audit.jsonl"), before);
        try (AuditFile file = AuditFile.open(path, 1000)) {
            file.write(record(1));
        }
        assertThat(Files.readString(path)).isEqualTo("before\nrecord 1\n");
    }

    @Test
    void aRecordAfterACutOneOnStandardOutputBeginsALine() throws IOException {
        ByteArrayOutputStream taken = new ByteArrayOutputStream();
        AuditTarget output = AuditTarget.of(new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                if (taken.size() == 3) {
                    taken.write('!');
                    throw new IOException("full");
                }
                taken.write(one);
            }
        });
        assertThatThrownBy(() -> output.write(record(1))).isInstanceOf(IOException.class);
        output.write(record(2));
        output.write(record(3));
        assertThat(taken).hasToString("rec!\nrecord 2\nrecord 3\n");
    }

    /** Each attempt at a rotation would cost the oldest file. */
    @Test
    void aRotationThatFailsAgainAndAgainLosesNoFile() throws IOException {
        Path path = folder.resolve("audit.jsonl");
        try (AuditFile file = AuditFile.open(path, 20)) {
            for (int i = 10; i < 28; i++) {
                file.write(record(i));
            }
            // Earlier attempts have moved all older files, and failed then.
            Files.delete(folder.resolve("audit.jsonl.3"));
            file.write(record(28));
            assertThat(Files.readString(folder.resolve("audit.jsonl.8"))).isEqualTo("record 10\nrecord 11\n");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFileThatAnotherProgramMovesAwayIsMadeAgain(boolean replaced) throws IOException {
        Path path = folder.resolve("audit.jsonl");
        try (AuditFile file = AuditFile.open(path, 1000)) {
            file.write(record(1));
            Files.move(path, folder.resolve("moved"));
            if (replaced) {
                Files.createFile(path);
            }
            file.write(record(2));
        }
        assertThat(Files.readString(path)).isEqualTo("record 2\n");
    }
}
