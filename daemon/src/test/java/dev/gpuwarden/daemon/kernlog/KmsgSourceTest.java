package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests against this machine's ring. */
class KmsgSourceTest {

    private static final Path DEVICE = Path.of("/dev/kmsg");

    private final Boot boot = new Boot(Path.of("/proc"), Clock.systemUTC());

    @BeforeEach
    void readable() {
        try (InputStream open = Files.newInputStream(DEVICE)) {
            assumeTrue(open != null);
        } catch (IOException e) {
            assumeTrue(false, "this machine's /dev/kmsg cannot be read: " + e);
        }
    }

    private KmsgSource source(LogSource.Start start, boolean follow) {
        return new KmsgSource(DEVICE, start, follow, boot);
    }

    /** Writes a record from user space; readers must see the facility of user space. */
    private static String write() {
        String text = "gpuwarden-test " + System.nanoTime();
        try (OutputStream out = Files.newOutputStream(DEVICE)) {
            out.write(("<14>" + text + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            assumeTrue(false, "this machine's /dev/kmsg cannot be written: " + e);
        }
        return text;
    }

    @Test
    void scanReadsTheRingAndEnds() {
        RecordingSink sink = RecordingSink.once(source(LogSource.Start.FIRST, false));
        assertThat(sink.unreadable()).isEmpty();
        assertThat(sink.records()).hasSizeGreaterThan(10);
        assertThat(sink.records().get(0).writer()).isEqualTo(Writer.KERNEL);
        if (sink.gaps().isEmpty()) {
            assertThat(sink.texts().get(0)).startsWith("Linux version ");
        }
        Instant now = Instant.now();
        assertThat(sink.records())
                .allMatch(record -> record.time().isBefore(now.plusSeconds(5)))
                .allMatch(record -> record.time().isAfter(now.minus(Duration.ofDays(3650))));
    }

    @Test
    void followingReportsTheWriterAndEndsWhenClosed() throws Exception {
        try (RecordingSink sink = RecordingSink.follow(source(LogSource.Start.FIRST, true))) {
            sink.awaitRecords(10);
            String text = write();
            sink.await(h -> h.texts().contains(text));
            assertThat(sink.records().get(sink.texts().indexOf(text)).writer()).isEqualTo(Writer.PRIVILEGED);
            assertThat(sink.ends()).isTrue();
            assertThat(sink.unreadable()).isEmpty();
        }
    }

    @Test
    void readingResumesBehindTheLastRecord() {
        String first = write();
        String second = write();
        RecordingSink all = RecordingSink.once(source(LogSource.Start.FIRST, false));
        int at = all.texts().indexOf(first);
        assertThat(at).isNotNegative();
        RecordingSink rest = RecordingSink.once(source(LogSource.Start.behind(all.cursor(at)), false));
        assertThat(rest.gaps()).isEmpty();
        assertThat(rest.texts().indexOf(second)).isEqualTo(all.texts().indexOf(second) - at - 1);
        assertThat(rest.texts()).startsWith(all.texts().get(at + 1)).doesNotContain(first);
    }

    @Test
    void idleReaderUsesNoCpu() throws Exception {
        try (RecordingSink sink = RecordingSink.follow(source(LogSource.Start.FIRST, true))) {
            sink.awaitRecords(10);
            long reader = sink.thread().getId();
            var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
            int records;
            long used;
            // This kernel writes when others make nodes: each line of it begins another half second.
            do {
                records = sink.records().size();
                long before = threads.getThreadCpuTime(reader);
                stays(sink, records, Duration.ofMillis(500));
                used = threads.getThreadCpuTime(reader) - before;
            } while (!stays(sink, records, Duration.ofMillis(50)));
            assertThat(used).isZero();
        }
    }

    /** Returns true when no record arrives in this time, and false with the first record. */
    private static boolean stays(RecordingSink sink, int records, Duration time) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        while (sink.records().size() == records && System.nanoTime() - end < 0) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return sink.records().size() == records;
    }
}
