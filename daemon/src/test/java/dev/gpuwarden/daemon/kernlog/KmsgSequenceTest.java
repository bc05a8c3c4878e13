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

/** What the numbers of records tell. A pipe gives them one by one, as the device does. */
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

    private Heard follow(LogSource.Start start) {
        return Heard.follow(new KmsgSource(pipe, start, true, new BootClock(folder, Clock.systemUTC())));
    }

    private static void write(OutputStream out, Heard heard, int... sequences) throws IOException {
        for (int sequence : sequences) {
            int before = heard.records().size();
            out.write(("4," + sequence + ",1000,-;record " + sequence + "\n").getBytes(StandardCharsets.US_ASCII));
            heard.awaitRecords(before + 1);
        }
    }

    /** A pipe, unlike the device, may give several at once, of which the first is taken. */
    private static void writeUntilHeard(OutputStream out, Heard heard, int sequence) throws Exception {
        String text = "record " + sequence;
        while (!heard.texts().contains(text)) {
            out.write(("4," + sequence + ",1000,-;" + text + "\n").getBytes(StandardCharsets.US_ASCII));
            new CountDownLatch(1).await(20, TimeUnit.MILLISECONDS);
        }
    }

    @Test
    void aJumpIsAGapOfThatSize() throws Exception {
        try (Heard heard = follow(LogSource.Start.FIRST);
                OutputStream out = Files.newOutputStream(pipe)) {
            write(out, heard, 700, 701, 705, 706);
            assertThat(heard.gaps()).hasSize(1);
            assertThat(heard.lost()).isEqualTo(3);
            assertThat(heard.texts()).containsExactly("record 700", "record 701", "record 705", "record 706");
            assertThat(heard.lastCursor()).isEqualTo("kmsg:706");
        }
    }

    @Test
    void aRingThatWrappedSinceTheLastStartIsAGap() throws Exception {
        try (Heard heard = follow(LogSource.Start.behind("kmsg:690"));
                OutputStream out = Files.newOutputStream(pipe)) {
            write(out, heard, 700);
            assertThat(heard.lost()).isEqualTo(9);
        }
    }

    @Test
    void whatWasReadBeforeIsNotReadAgain() throws Exception {
        try (Heard heard = follow(LogSource.Start.behind("kmsg:701"));
                OutputStream out = Files.newOutputStream(pipe)) {
            for (int old = 699; old <= 701; old++) {
                out.write(("4," + old + ",1000,-;old\n").getBytes(StandardCharsets.US_ASCII));
            }
            writeUntilHeard(out, heard, 702);
            assertThat(heard.texts()).containsExactly("record 702");
            assertThat(heard.gaps()).isEmpty();
        }
    }

    @Test
    void theBeginningOfANewBootMustBeThere() throws Exception {
        try (Heard heard = follow(LogSource.Start.afterReboot("kmsg:5000"));
                OutputStream out = Files.newOutputStream(pipe)) {
            write(out, heard, 40);
            assertThat(heard.lost()).isEqualTo(40);
        }
    }

    @Test
    void aDeviceThatGoesAwayIsOpenedAgain() throws Exception {
        try (Heard heard = follow(LogSource.Start.FIRST)) {
            try (OutputStream out = Files.newOutputStream(pipe)) {
                write(out, heard, 1, 2);
            }
            heard.await(h -> !h.unreadable().isEmpty());
            assertThat(heard.unreadable()).contains(pipe.toString());
            try (OutputStream out = Files.newOutputStream(pipe)) {
                out.write("4,2,1000,-;record 2\n".getBytes(StandardCharsets.US_ASCII));
                heard.await(h -> h.unreadable().isEmpty());
                writeUntilHeard(out, heard, 3);
            }
            assertThat(heard.texts()).containsExactly("record 1", "record 2", "record 3");
            assertThat(heard.gaps()).isEmpty();
        }
    }

    @Test
    void aCursorThatIsNotUnderstoodMeansTheBeginning() throws Exception {
        try (Heard heard = follow(LogSource.Start.behind("kmsg:nonsense"));
                OutputStream out = Files.newOutputStream(pipe)) {
            write(out, heard, 9);
            assertThat(heard.gaps()).isEmpty();
        }
    }
}
