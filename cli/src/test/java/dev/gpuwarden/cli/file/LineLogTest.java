package dev.gpuwarden.cli.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The daemon's FullDiskTest cuts each writer's lines on a full disk. */
class LineLogTest {

    @TempDir
    Path folder;

    private static byte[] line(String text) {
        return (text + "\n").getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 70_000, 200_000})
    void aCutLineIsRemovedBeforeTheNext(int length) throws IOException {
        Path file = folder.resolve("log");
        LineLog log = new LineLog(file);
        assertThat(log.size()).isZero();
        assertThat(log.cut()).isTrue();
        log.append(line("first"));
        Files.writeString(file, Files.readString(file) + "x".repeat(length));
        log.append(line("second"));
        assertThat(Files.readString(file)).isEqualTo("first\nsecond\n");
        Files.writeString(file, "x".repeat(length));
        assertThat(log.cut()).isTrue();
        assertThat(log.size()).isZero();
        log.append(line("third"));
        assertThat(Files.readString(file)).isEqualTo("third\n");
    }

    @Test
    void aFullDiskIsAnError() {
        assertThatThrownBy(() -> new LineLog(Path.of("/dev/full")).append(line("line")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("No space");
    }

    @Test
    void aNewFileWhoseNameTheDiskDoesNotTakeHasNoLine() throws IOException {
        Path file = folder.resolve("log");
        List<Path> synced = new ArrayList<>();
        LineLog log = new LineLog(file, each -> {
            synced.add(each);
            if (synced.size() == 1) {
                throw new IOException("Input/output error");
            }
        });
        assertThatThrownBy(() -> log.append(line("first"))).hasMessage("Input/output error");
        assertThat(file).isEmptyFile();
        log.append(line("first"));
        log.append(line("second"));
        assertThat(synced).as("again for the next line, and then no more").containsExactly(file, file);
        assertThat(Files.readString(file)).isEqualTo("first\nsecond\n");
    }

    @Test
    void aFileThatCannotBeReplacedStays() throws IOException {
        Path file = folder.resolve("state");
        AtomicFile.replace(file, "old");
        AtomicFile.replace(file, "new");
        assertThat(Files.readString(file)).isEqualTo("new");
        Path occupied =
                Files.createDirectories(folder.resolve("occupied/child")).getParent();
        assertThatThrownBy(() -> AtomicFile.replace(occupied, "text")).isInstanceOf(IOException.class);
        assertThat(occupied.resolve("child")).isDirectory();
        assertThat(folder.resolve("occupied.new")).doesNotExist();
    }

    @Test
    void aLinkOfTheUnfinishedNameIsNotFollowed() throws IOException {
        Path other = Files.writeString(folder.resolve("other"), "theirs");
        Files.createSymbolicLink(folder.resolve("state.new"), other);
        AtomicFile.replace(folder.resolve("state"), "text");
        assertThat(Files.readString(other)).isEqualTo("theirs");
        assertThat(Files.readString(folder.resolve("state"))).isEqualTo("text");
    }
}
