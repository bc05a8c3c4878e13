package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class JournalTest {

    @Test
    void onlyTheStreamThatTheVariableNamesIsTheJournal() throws Exception {
        Path file = Path.of("/proc/self/stat");
        String stream = Files.getAttribute(file, "unix:dev") + ":" + Files.getAttribute(file, "unix:ino");
        assertThat(Journal.reads(stream, file)).isTrue();
        assertThat(Journal.reads("8:1", file)).isFalse();
        assertThat(Journal.reads("", file)).isFalse();
        assertThat(Journal.reads(null, file)).isFalse();
        assertThat(Journal.reads(stream, Path.of("/no/such/file"))).isFalse();
    }
}
