package dev.gpuwarden.cli.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RotatingLogTest {

    private static final int OLDER = 8;

    /** A file on a disk that is always full, which Linux has for tests. */
    private static final Path FULL = Path.of("/dev/full");

    @TempDir
    Path folder;

    private static byte[] record(int number) {
        return ("record " + number + "\n").getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void eachFailedWriteToFileIsAnError() throws IOException {
        RotatingLog log = new RotatingLog(FULL, 100, OLDER);
        assertThatThrownBy(() -> log.append(record(1))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> log.append(record(2))).isInstanceOf(IOException.class);
    }

    @Test
    void fullFileIsRotatedAndEightOlderFilesStay() throws IOException {
        Path path = folder.resolve("audit.jsonl");
        RotatingLog log = new RotatingLog(path, 20, OLDER);
        for (int i = 10; i < 40; i++) {
            log.append(record(i));
        }
        assertThat(Files.readString(path)).isEqualTo("record 38\nrecord 39\n");
        assertThat(Files.readString(folder.resolve("audit.jsonl.1"))).isEqualTo("record 36\nrecord 37\n");
        try (var all = Files.list(folder)) {
            assertThat(all.map(each -> each.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(0, OLDER)
                            .mapToObj(i -> i == 0 ? "audit.jsonl" : "audit.jsonl." + i)
                            .toList());
        }
    }

    /** A record that an earlier process left unfinished is removed. */
    @ParameterizedTest
    @ValueSource(strings = {"before\n", "before\nrec"})
    void recordsFollowThoseOfAnEarlierProcess(String before) throws IOException {
        Path path = Files.writeString(folder.resolve("audit.jsonl"), before);
        RotatingLog log = new RotatingLog(path, 1000, OLDER);
        log.append(record(1));
        assertThat(Files.readString(path)).isEqualTo("before\nrecord 1\n");
    }

    /** Each attempt at a rotation would cost the oldest file. */
    @Test
    void aRotationThatFailsAgainAndAgainLosesNoFile() throws IOException {
        Path path = folder.resolve("audit.jsonl");
        RotatingLog log = new RotatingLog(path, 20, OLDER);
        for (int i = 10; i < 28; i++) {
            log.append(record(i));
        }
        // Earlier attempts have moved all older files, and failed then.
        Files.delete(folder.resolve("audit.jsonl.3"));
        log.append(record(28));
        assertThat(Files.readString(folder.resolve("audit.jsonl.8"))).isEqualTo("record 10\nrecord 11\n");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFileThatAnotherProgramMovesAwayIsMadeAgain(boolean replaced) throws IOException {
        Path path = folder.resolve("audit.jsonl");
        RotatingLog log = new RotatingLog(path, 1000, OLDER);
        log.append(record(1));
        Files.move(path, folder.resolve("moved"));
        if (replaced) {
            Files.createFile(path);
        }
        log.append(record(2));
        assertThat(Files.readString(path)).isEqualTo("record 2\n");
    }
}
