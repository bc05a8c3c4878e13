package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PipeSourceTest {

    @TempDir
    Path folder;

    @Test
    void writersComeAndGo() throws Exception {
        Path pipe = folder.resolve("kmsg");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        try (Heard heard =
                Heard.follow(new PipeSource(pipe, new BootClock(folder, Clock.systemUTC()), ZoneOffset.UTC))) {
            heard.await(h -> h.unreadable().isEmpty());
            Files.writeString(pipe, "4,1,2,-;one\n SUBSYSTEM=pci\n4,2,3,-;two\nplain ");
            Files.writeString(pipe, "text\n4,9,3,-;three\n");
            heard.awaitRecords(4);
            assertThat(heard.texts()).containsExactly("one", "two", "plain text", "three");
            assertThat(heard.lost()).isEqualTo(6);
            assertThat(heard.ends()).isTrue();
        }
    }
}
