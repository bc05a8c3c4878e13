package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class JournalStreamTest {

    @Test
    void onlyTheStreamThatTheVariableNamesIsTheJournal() throws Exception {
        Path file = Path.of("/proc/self/stat");
        String stream = Files.getAttribute(file, "unix:dev") + ":" + Files.getAttribute(file, "unix:ino");
        assertThat(JournalStream.reads(stream, file)).isTrue();
        assertThat(JournalStream.reads("8:1", file)).isFalse();
        assertThat(JournalStream.reads("", file)).isFalse();
        assertThat(JournalStream.reads(null, file)).isFalse();
        assertThat(JournalStream.reads(stream, Path.of("/no/such/file"))).isFalse();
    }
}
