package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Forms of the lines in a file: the device's own, syslog's and others. */
class FileSourceFormatsTest {

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

    @Test
    void fileInTheDevicesFormIsRead() throws IOException {
        append("5,0,0,-;Linux version 6.1.0\n");
        append("6,1,5140900,-,caller=T1;pci 0000:00:1f.2: [8086:2922]\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:1f.2\n");
        append("12,2,5140901,-;NVRM: Xid (PCI:0000:3b:00): 79, forged\n");
        append("4,6,5140902,-;NVRM: real\n");
        RecordingSink sink = once(LogSource.Start.FIRST);
        assertThat(sink.records())
                .extracting(KernelRecord::writer)
                .containsExactly(Writer.KERNEL, Writer.KERNEL, Writer.PRIVILEGED, Writer.KERNEL);
        assertThat(sink.texts()).endsWith("NVRM: real");
        assertThat(sink.lost()).isEqualTo(3);
    }

    private static String ring(int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append("4,").append(i).append(",1000,-;record ").append(i).append("\n KEY=value\n");
        }
        return text.toString();
    }

    private void replace(String text) throws IOException {
        Path next = Files.writeString(folder.resolve("next"), text);
        Files.move(next, log(), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
    }

    /** A file that stands for a full ring is replaced by its newest records. */
    @Test
    void numberedRecordsAreReadOnceInAnyFile() throws IOException {
        append(ring(0, 10));
        String cursor;
        try (RecordingSink sink = follow()) {
            sink.awaitRecords(10);
            replace(ring(7, 12));
            sink.awaitRecords(12);
            append(ring(12, 13));
            sink.awaitRecords(13);
            replace(ring(20, 22));
            sink.awaitRecords(15);
            assertThat(sink.lost()).isEqualTo(7);
            assertThat(sink.texts()).doesNotHaveDuplicates();
            cursor = sink.lastCursor();
        }
        replace(ring(15, 25));
        RecordingSink rest = once(LogSource.Start.behind(cursor));
        assertThat(rest.texts()).containsExactly("record 22", "record 23", "record 24");
        assertThat(rest.gaps()).isEmpty();
        replace(ring(30, 31));
        rest = once(LogSource.Start.behind(cursor));
        assertThat(rest.texts()).containsExactly("record 30");
        assertThat(rest.lost()).isEqualTo(8);
        replace("5,0,0,-;Linux version 6.1.0\n" + ring(1, 3));
        assertThat(once(LogSource.Start.afterReboot(cursor)).texts())
                .containsExactly("Linux version 6.1.0", "record 1", "record 2");
    }

    @Test
    void linesOfProgramsHaveTheWriterUser() throws IOException {
        append("Nov 21 02:00:02 node-1 kubelet[1234]: NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n");
        append("Nov 21 02:00:02 node-1 kernel: NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n");
        append("Nov 21 02:00:02 node-1 nvsentinel-gpu-reset: GPU reset occurred: GPU-1\n");
        assertThat(once(LogSource.Start.FIRST).records())
                .extracting(KernelRecord::writer)
                .containsExactly(Writer.USER, Writer.UNTOLD, Writer.UNTOLD);
    }

    @Test
    void longLinesBadBytesAndUnfinishedLinesAreRead() throws IOException {
        try (OutputStream out = Files.newOutputStream(log())) {
            out.write(new byte[] {(byte) 0xff, (byte) 0xfe, 0, 27, '[', '\n', '\n', '\r', '\n'});
            out.write("y".repeat(1_000_000).getBytes(StandardCharsets.US_ASCII));
            out.write("\nafter\r\nno end".getBytes(StandardCharsets.US_ASCII));
        }
        RecordingSink sink = once(LogSource.Start.FIRST);
        assertThat(sink.texts()).hasSize(4).endsWith("after", "no end");
        assertThat(sink.texts().get(0)).isEqualTo("\ufffd\ufffd\ufffd\ufffd[");
        assertThat(sink.texts().get(1)).hasSize(KernelRecord.LONGEST);
        assertThat(once(LogSource.Start.behind(sink.cursor(1))).texts()).containsExactly("after", "no end");
    }

    @Test
    void timesOfAllFormsAreRead() throws IOException {
        Files.writeString(folder.resolve("uptime"), "1000.00 1.0\n");
        append("2024-07-31T23:14:18.5+02:00 n kernel: a\n2024-07-31T23:14:18+0000 n kernel: b\n");
        append("2025-01-25T10:34:54,859532+00:00 c\n[Wed Jul 31 23:14:18 2024] d\n1722467658.123456 n kernel: e\n");
        append("kwi 15 07:56:59 n kernel: f\ng\n[  400.000000] h\n");
        List<Instant> times = once(LogSource.Start.FIRST).records().stream()
                .map(KernelRecord::time)
                .toList();
        assertThat(times.subList(0, 7))
                .containsExactly(
                        Instant.parse("2024-07-31T21:14:18.5Z"),
                        Instant.parse("2024-07-31T23:14:18Z"),
                        Instant.parse("2025-01-25T10:34:54.859532Z"),
                        Instant.parse("2024-07-31T23:14:18Z"),
                        Instant.parse("2024-07-31T23:14:18.123456Z"),
                        Instant.EPOCH,
                        Instant.EPOCH);
        assertThat(times.get(7))
                .isBetween(Instant.now().minusSeconds(660), Instant.now().minusSeconds(590));
    }

    @Test
    void syslogTimeIsTheNewestThatIsNotAhead() {
        Clock january = Clock.fixed(Instant.parse("2026-01-02T00:00:00Z"), ZoneOffset.UTC);
        Boot boot = new Boot(folder, january);
        assertThat(LineParser.time("Dec 31 23:59:58", boot, ZoneOffset.UTC))
                .isEqualTo(Instant.parse("2025-12-31T23:59:58Z"));
        assertThat(LineParser.time("Jan  2 00:00:00", boot, ZoneOffset.UTC))
                .isEqualTo(Instant.parse("2026-01-02T00:00:00Z"));
        assertThat(LineParser.time("Jan 02 00:00:00.250", boot, ZoneOffset.ofHours(1)))
                .isEqualTo(Instant.parse("2026-01-01T23:00:00.250Z"));
    }
}
