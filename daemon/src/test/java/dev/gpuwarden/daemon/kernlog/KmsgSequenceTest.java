package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sequence numbers of records. A pipe returns records one by one, like the device. */
class KmsgSequenceTest {

    @TempDir
    Path folder;

    private Path pipe;

    @BeforeEach
    void makePipe() throws Exception {
        pipe = folder.resolve("kmsg");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
    }

    private RecordingSink follow(LogSource.Start start) {
        return RecordingSink.follow(new KmsgSource(pipe, start, true, new Boot(folder, Clock.systemUTC())));
    }

    private static void write(OutputStream out, RecordingSink sink, int... sequences) throws IOException {
        for (int sequence : sequences) {
            int before = sink.records().size();
            out.write(("4," + sequence + ",1000,-;record " + sequence + "\n").getBytes(StandardCharsets.US_ASCII));
            sink.awaitRecords(before + 1);
        }
    }

    /** Repeats the record: a pipe, unlike the device, may return several together, of which the first is read. */
    private static void writeUntilRead(OutputStream out, RecordingSink sink, int sequence) throws Exception {
        String text = "record " + sequence;
        while (!sink.texts().contains(text)) {
            out.write(("4," + sequence + ",1000,-;" + text + "\n").getBytes(StandardCharsets.US_ASCII));
            new CountDownLatch(1).await(20, TimeUnit.MILLISECONDS);
        }
    }

    @Test
    void jumpOfTheSequenceIsAGap() throws Exception {
        try (RecordingSink sink = follow(LogSource.Start.FIRST);
                OutputStream out = Files.newOutputStream(pipe)) {
            write(out, sink, 700, 701, 705, 706);
            assertThat(sink.gaps()).hasSize(1);
            assertThat(sink.lost()).isEqualTo(3);
            assertThat(sink.texts()).containsExactly("record 700", "record 701", "record 705", "record 706");
            assertThat(sink.lastCursor()).isEqualTo("kmsg:706");
        }
    }

    @Test
    void ringThatWrappedSinceTheLastStartIsAGap() throws Exception {
        try (RecordingSink sink = follow(LogSource.Start.behind("kmsg:690"));
                OutputStream out = Files.newOutputStream(pipe)) {
            write(out, sink, 700);
            assertThat(sink.lost()).isEqualTo(9);
        }
    }

    @Test
    void recordsAreNotReadTwice() throws Exception {
        try (RecordingSink sink = follow(LogSource.Start.behind("kmsg:701"));
                OutputStream out = Files.newOutputStream(pipe)) {
            for (int old = 699; old <= 701; old++) {
                out.write(("4," + old + ",1000,-;old\n").getBytes(StandardCharsets.US_ASCII));
            }
            writeUntilRead(out, sink, 702);
            assertThat(sink.texts()).containsExactly("record 702");
            assertThat(sink.gaps()).isEmpty();
        }
    }

    @Test
    void missingBeginningOfNextBootIsAGap() throws Exception {
        try (RecordingSink sink = follow(LogSource.Start.afterReboot("kmsg:5000"));
                OutputStream out = Files.newOutputStream(pipe)) {
            write(out, sink, 40);
            assertThat(sink.lost()).isEqualTo(40);
        }
    }

    @Test
    void failedDeviceIsOpenedAgain() throws Exception {
        try (RecordingSink sink = follow(LogSource.Start.FIRST)) {
            try (OutputStream out = Files.newOutputStream(pipe)) {
                write(out, sink, 1, 2);
            }
            sink.await(h -> !h.unreadable().isEmpty());
            assertThat(sink.unreadable()).contains(pipe.toString());
            try (OutputStream out = Files.newOutputStream(pipe)) {
                out.write("4,2,1000,-;record 2\n".getBytes(StandardCharsets.US_ASCII));
                sink.await(h -> h.unreadable().isEmpty());
                writeUntilRead(out, sink, 3);
            }
            assertThat(sink.texts()).containsExactly("record 1", "record 2", "record 3");
            assertThat(sink.gaps()).isEmpty();
        }
    }

    @Test
    void unknownCursorStartsAtTheBeginning() throws Exception {
        try (RecordingSink sink = follow(LogSource.Start.behind("kmsg:nonsense"));
                OutputStream out = Files.newOutputStream(pipe)) {
            write(out, sink, 9);
            assertThat(sink.gaps()).isEmpty();
        }
    }
}
