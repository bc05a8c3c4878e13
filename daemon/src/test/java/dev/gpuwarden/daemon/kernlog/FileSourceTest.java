package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileSourceTest {

    @TempDir
    Path folder;

    private Path log() {
        return folder.resolve("kern.log");
    }

    private FileSource source(LogSource.Start start, boolean follow) {
        return new FileSource(
                log(), start, follow, new Boot(folder, Clock.systemUTC()), ZoneOffset.UTC, LineTrust.NONE);
    }

    private RecordingSink follow() {
        return RecordingSink.follow(source(LogSource.Start.FIRST, true));
    }

    private RecordingSink once(LogSource.Start start) {
        return RecordingSink.once(source(start, false));
    }

    private void append(String text) throws IOException {
        Files.writeString(log(), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private void lines(int from, int to) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append("line ").append(i).append('\n');
        }
        append(text.toString());
    }

    private static List<String> numbered(int from, int to) {
        List<String> texts = new ArrayList<>();
        for (int i = from; i < to; i++) {
            texts.add("line " + i);
        }
        return texts;
    }

    /** Files have the time of the kernel's last tick. No two rotations happen within one tick. */
    private Instant modified = Instant.now().minusSeconds(86_400);

    private FileTime tick() {
        modified = modified.plusSeconds(1);
        return FileTime.from(modified);
    }

    private void rename(String name) throws IOException {
        Files.setLastModifiedTime(log(), tick());
        Files.move(log(), folder.resolve(name));
    }

    private void copyAndCut(String name) throws IOException {
        Path copy = Files.copy(log(), folder.resolve("copy"));
        Files.setLastModifiedTime(copy, tick());
        Files.move(copy, folder.resolve(name));
        Files.newByteChannel(log(), StandardOpenOption.WRITE).truncate(0).close();
    }

    @Test
    void linesAreDeliveredWhenTheyAreComplete() throws IOException {
        lines(0, 3);
        try (RecordingSink sink = follow()) {
            sink.awaitRecords(3);
            append("line 3 is ");
            append("long\nline 4\nlin");
            sink.awaitRecords(5);
            assertThat(sink.texts()).containsExactly("line 0", "line 1", "line 2", "line 3 is long", "line 4");
            append("e 5\n");
            sink.awaitRecords(6);
            assertThat(sink.texts().get(5)).isEqualTo("line 5");
        }
    }

    @Test
    void sourceWaitsForAMissingFile() throws Exception {
        try (RecordingSink sink = follow()) {
            sink.await(h -> h.unreadable().contains("does not exist"));
            lines(0, 2);
            sink.awaitRecords(2);
            assertThat(sink.unreadable()).isEmpty();
            assertThat(sink.ends()).isTrue();
        }
    }

    @Test
    void renamedFileIsReadToItsEnd() throws IOException {
        lines(0, 100);
        try (RecordingSink sink = follow()) {
            sink.awaitRecords(100);
            rename("kern.log.1");
            // Its writer has not noticed yet.
            Files.writeString(folder.resolve("kern.log.1"), "line 100\n", StandardOpenOption.APPEND);
            Files.createFile(log());
            Files.writeString(folder.resolve("kern.log.1"), "line 101\nline 102", StandardOpenOption.APPEND);
            lines(103, 200);
            sink.awaitRecords(200);
            assertThat(sink.texts()).isEqualTo(numbered(0, 200));
            assertThat(sink.gaps()).isEmpty();
        }
    }

    @Test
    void symbolicLinkIsFollowed() throws IOException {
        Files.createDirectories(folder.resolve("elsewhere"));
        Files.writeString(folder.resolve("elsewhere/messages"), "line 0\n");
        Files.createSymbolicLink(log(), folder.resolve("elsewhere/messages"));
        try (RecordingSink sink = follow()) {
            sink.awaitRecords(1);
            lines(1, 2);
            sink.awaitRecords(2);
        }
    }

    @Test
    void removedFileIsReplacedByTheNewOne() throws IOException {
        lines(0, 10);
        try (RecordingSink sink = follow()) {
            sink.awaitRecords(10);
            Files.delete(log());
            lines(10, 20);
            sink.awaitRecords(20);
            assertThat(sink.texts()).isEqualTo(numbered(0, 20));
        }
    }

    @Test
    void truncatedFileIsReadFromItsBeginning() throws IOException {
        lines(0, 100);
        try (RecordingSink sink = follow()) {
            sink.awaitRecords(100);
            copyAndCut("kern.log.1");
            lines(100, 103);
            sink.awaitRecords(103);
            copyAndCut("kern.log.2");
            lines(103, 110);
            sink.awaitRecords(110);
            assertThat(sink.texts()).isEqualTo(numbered(0, 110));
        }
    }

    /** A writer that never stops, with rotations of every kind. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 36})
    void noLineIsLostInRotations(long seed) throws IOException {
        Random random = new Random(seed);
        int total = 20_000;
        lines(0, 1);
        try (RecordingSink sink = follow()) {
            sink.awaitRecords(1);
            int written = 1;
            int rotations = 0;
            while (written < total) {
                int until = Math.min(total, written + 1 + random.nextInt(300));
                lines(written, until);
                written = until;
                if (random.nextInt(10) == 0) {
                    // Names sort as their times do; the file system keeps both.
                    String name = "kern.log." + rotations++;
                    if (random.nextBoolean()) {
                        rename(name);
                    } else {
                        copyAndCut(name);
                        // Two truncations before a check look like one.
                        lines(written, ++written);
                        sink.awaitRecords(written);
                    }
                }
            }
            sink.awaitRecords(total);
            assertThat(sink.texts()).isEqualTo(numbered(0, total));
            assertThat(sink.gaps()).isEmpty();
        }
    }

    @Test
    void readingResumesBehindEveryLine() throws IOException {
        lines(0, 50);
        RecordingSink all = once(LogSource.Start.FIRST);
        for (int i = 0; i < 50; i++) {
            assertThat(once(LogSource.Start.behind(all.cursor(i))).texts()).isEqualTo(numbered(i + 1, 50));
        }
    }

    @Test
    void readingResumesInARotatedFile() throws IOException {
        lines(0, 50);
        LogSource.Start behind19 =
                LogSource.Start.behind(once(LogSource.Start.FIRST).cursor(19));
        lines(50, 60);
        rename("kern.log.2");
        Files.setLastModifiedTime(
                folder.resolve("kern.log.2"), FileTime.from(Instant.now().minusSeconds(60)));
        lines(60, 70);
        rename("kern.log.1");
        Files.setLastModifiedTime(
                folder.resolve("kern.log.1"), FileTime.from(Instant.now().minusSeconds(30)));
        lines(70, 80);
        RecordingSink rest = once(behind19);
        assertThat(rest.texts()).isEqualTo(numbered(20, 80));
        assertThat(rest.gaps()).isEmpty();
    }

    @Test
    void emptyRotatedFilesAreSkipped() throws IOException {
        lines(0, 5);
        LogSource.Start behind =
                LogSource.Start.behind(once(LogSource.Start.FIRST).cursor(2));
        rename("kern.log.3");
        for (String empty : List.of("kern.log.2", "kern.log.1")) {
            Files.createFile(log());
            rename(empty);
        }
        Files.createFile(log());
        assertThat(once(behind).texts()).isEqualTo(numbered(3, 5));
        try (RecordingSink sink = RecordingSink.follow(source(behind, true))) {
            sink.awaitRecords(2);
            lines(5, 7);
            sink.awaitRecords(4);
            assertThat(sink.texts()).isEqualTo(numbered(3, 7));
        }
    }

    @Test
    void readingResumesInACopy() throws IOException {
        lines(0, 50);
        LogSource.Start behind19 =
                LogSource.Start.behind(once(LogSource.Start.FIRST).cursor(19));
        copyAndCut("kern.log-20261121");
        lines(50, 55);
        RecordingSink rest = once(behind19);
        assertThat(rest.texts()).isEqualTo(numbered(20, 55));
        assertThat(rest.gaps()).isEmpty();
    }

    @Test
    void removedFileIsAGap() throws IOException {
        lines(0, 50);
        LogSource.Start behind19 =
                LogSource.Start.behind(once(LogSource.Start.FIRST).cursor(19));
        Files.delete(log());
        append("another begin\n");
        RecordingSink rest = once(behind19);
        assertThat(rest.gaps()).hasSize(1);
        assertThat(rest.texts()).containsExactly("another begin");
    }

    @Test
    void otherFileOfTheSameNameIsReadFromItsBeginning() throws IOException {
        lines(0, 50);
        String cursor = once(LogSource.Start.FIRST).lastCursor();
        Files.writeString(log(), "x".repeat(5000) + "\n");
        assertThat(once(LogSource.Start.behind(cursor)).records()).hasSize(1);
    }

    @Test
    void otherFilesOfTheFolderAreIgnored() throws IOException {
        lines(0, 5);
        LogSource.Start behind =
                LogSource.Start.behind(once(LogSource.Start.FIRST).cursor(0));
        rename("kern.log.1");
        lines(5, 8);
        for (String other : List.of("kern.log.lock", "kern.log.1.gz", "kern.logger", "kern.log.", "syslog.1")) {
            Files.writeString(folder.resolve(other), "other\n");
        }
        assertThat(once(behind).texts()).isEqualTo(numbered(1, 8));
    }

    @Test
    void onlyRecordsOfThisBootAreRead() throws IOException {
        append("Nov 20 10:00:00 n kernel: Linux version 6.1.0\n");
        append("Nov 20 10:00:01 n kernel: old\n");
        append("Nov 21 10:00:00 n kernel: [    0.000000] Linux version 6.1.0\n");
        append("Nov 21 10:00:01 n sshd[1]: Linux version 6.1.0\n");
        append("Nov 21 10:00:02 n kernel: new\n");
        assertThat(once(LogSource.Start.FIRST).texts())
                .containsExactly("Linux version 6.1.0", "Linux version 6.1.0", "new");
        RecordingSink afterBoot =
                once(LogSource.Start.afterReboot(once(LogSource.Start.FIRST).lastCursor()));
        assertThat(afterBoot.texts()).isEmpty();
        append("Nov 21 10:00:03 n kernel: lost with the crash\n");
        String cursor = once(LogSource.Start.FIRST).cursor(2);
        append("Nov 22 10:00:00 n kernel: Linux version 6.1.0\n");
        append("Nov 22 10:00:00 n kernel: newest\n");
        assertThat(once(LogSource.Start.afterReboot(cursor)).texts()).containsExactly("Linux version 6.1.0", "newest");
    }

    @Test
    void bootIsReadFromTheRotatedFileInWhichItBegan() throws IOException {
        append("kernel: old\nkernel: Linux version 6.1.0\nkernel: a\n");
        rename("kern.log.1");
        Files.setLastModifiedTime(
                folder.resolve("kern.log.1"), FileTime.from(Instant.now().minusSeconds(60)));
        append("kernel: b\n");
        assertThat(once(LogSource.Start.FIRST).texts()).containsExactly("Linux version 6.1.0", "a", "b");
    }

    @Test
    void bootIsFoundAcrossBlocksOfALargeFile() throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 60_000; i++) {
            text.append("Nov 20 10:00:00 node kernel: filler of some length ")
                    .append(i)
                    .append('\n');
        }
        for (int shift = 0; shift < 3; shift++) {
            String head = text.substring(0, 1_500_000 + 17 * shift);
            String log = head.substring(0, head.lastIndexOf('\n') + 1) + "kernel: Linux version 6\n"
                    + "x".repeat((1 << 20) - 30 + shift * 11) + "\n";
            Files.writeString(log(), log);
            assertThat(once(LogSource.Start.FIRST).texts()).hasSize(2).first().isEqualTo("Linux version 6");
        }
    }

    @Test
    void cursorOfAnotherFileIsIgnored() throws IOException {
        lines(0, 3);
        String cursor = once(LogSource.Start.FIRST).lastCursor();
        assertThat(once(LogSource.Start.behind(cursor + "x")).texts()).hasSize(3);
        assertThat(once(LogSource.Start.behind("file:a:b:c:" + log())).texts()).hasSize(3);
        assertThat(once(LogSource.Start.behind("kmsg:7")).texts()).hasSize(3);
    }
}
