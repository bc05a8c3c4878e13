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
    void pipeStaysOpenBetweenWriters() throws Exception {
        Path pipe = folder.resolve("kmsg");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        try (RecordingSink sink = RecordingSink.follow(
                new PipeSource(pipe, new Boot(folder, Clock.systemUTC()), ZoneOffset.UTC, LineTrust.NONE))) {
            sink.await(h -> h.unreadable().isEmpty());
            Files.writeString(pipe, "4,1,2,-;one\n SUBSYSTEM=pci\n4,2,3,-;two\nplain ");
            Files.writeString(pipe, "text\n4,9,3,-;three\n");
            sink.awaitRecords(4);
            assertThat(sink.texts()).containsExactly("one", "two", "plain text", "three");
            assertThat(sink.lost()).isEqualTo(6);
            assertThat(sink.ends()).isTrue();
        }
    }
}
