package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.daemon.kernlog.JournalSource.JournalEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JournalSourceTest {

    private static final String BOOT = "7d950291-ac19-4307-a9e8-c4c34bd12f8c";

    @TempDir
    Path folder;

    private Process journald;

    @AfterEach
    void end() {
        if (journald != null) {
            journald.descendants().forEach(ProcessHandle::destroy);
            journald.destroy();
        }
    }

    private JournalSource source(Path tool, LogSource.Start start, boolean follow) {
        return new JournalSource(List.of(tool.toString()), Optional.empty(), start, BOOT, follow);
    }

    private Path tool(String script) throws IOException {
        Path tool = folder.resolve("journalctl");
        Files.writeString(tool, "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwxr-xr-x"));
        return tool;
    }

    private static String entry(int number, String fields) {
        return "{\"__CURSOR\":\"s=1;i=" + number + "\",\"__REALTIME_TIMESTAMP\":\"1795259653051803\"," + fields + "}";
    }

    private static String kernel(int number, String message) {
        return entry(number, "\"_TRANSPORT\":\"kernel\",\"SYSLOG_FACILITY\":\"0\",\"MESSAGE\":\"" + message + "\"");
    }

    private static JournalEntry parse(String line) {
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        return JournalEntry.parse(bytes, 0, bytes.length).orElseThrow();
    }

    /** Fields in the form of journalctl of systemd 252. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    "_TRANSPORT":"kernel","SYSLOG_FACILITY":"0","MESSAGE":"a"                | KERNEL     | a
                    "_TRANSPORT":"kernel","SYSLOG_FACILITY":"1","MESSAGE":"a"                | PRIVILEGED | a
                    "_TRANSPORT":"kernel","MESSAGE":"a"                                      | KERNEL     | a
                    "_TRANSPORT":"syslog","_UID":"0","SYSLOG_FACILITY":"0","MESSAGE":"a"     | PRIVILEGED | a
                    "_TRANSPORT":"syslog","_UID":"1000","MESSAGE":"a"                        | USER       | a
                    "_TRANSPORT":"journal","MESSAGE":"a"                                     | USER       | a
                    "_TRANSPORT":"kernel","MESSAGE":[104,101,108,108,111,32,255,254]         | KERNEL     | hello \ufffd\ufffd
                    "_TRANSPORT":"kernel","MESSAGE":["first","second"]                       | KERNEL     | first
                    "_TRANSPORT":["kernel","syslog"],"MESSAGE":"two\\nlines\\u0007"          | KERNEL     | two lines\ufffd
                    "_TRANSPORT":"kernel","MESSAGE":null                                     | KERNEL     | ``
                    "_TRANSPORT":"kernel","MESSAGE":{"a":[1,{"b":2}]}                        | KERNEL     | ``
                    """)
    void entryHasTheWriterOfItsFields(String fields, Writer writer, String text) {
        KernelRecord record = parse(entry(1, fields.replace("\\\\", "\\"))).record();
        assertThat(record.writer()).isEqualTo(writer);
        assertThat(record.text()).isEqualTo(text);
        assertThat(record.time()).isEqualTo(Instant.parse("2026-11-21T11:14:13.051803Z"));
    }

    @Test
    void entryHasTheKernelsTime() {
        assertThat(parse(entry(1, "\"__MONOTONIC_TIMESTAMP\":\"9000000\",\"_SOURCE_MONOTONIC_TIMESTAMP\":\"1000000\""))
                        .record()
                        .time())
                .isEqualTo(Instant.parse("2026-11-21T11:14:05.051803Z"));
    }

    @Test
    void otherLinesAreNoEntries() {
        for (String line : List.of("", "{", "{}", "[]", "-- No entries --", "{\"MESSAGE\":\"x\"}", "{\"__CURSOR\":1")) {
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            assertThat(JournalEntry.parse(bytes, 0, bytes.length)).as(line).isEmpty();
        }
    }

    @Test
    void toolIsRestartedBehindTheLastEntry() throws IOException {
        Path tool = tool("echo \"$@\" >> " + folder.resolve("calls")
                + "\ncase \"$*\" in *--cursor=s=1\\;i=3*) echo '" + kernel(3, "c") + "'; echo '" + kernel(4, "d")
                + "'; exec sleep 60;; *--cursor*) echo 'Failed'; exit 1;;"
                + " *) echo '" + kernel(1, "a") + "'; echo '" + kernel(2, "b") + "'; echo '" + kernel(3, "c")
                + "'; exit 7;; esac");
        try (RecordingSink sink = RecordingSink.follow(source(tool, LogSource.Start.FIRST, true))) {
            sink.awaitRecords(4);
            assertThat(sink.texts()).containsExactly("a", "b", "c", "d");
            assertThat(sink.gaps()).isEmpty();
            assertThat(sink.unreadable()).isEmpty();
            assertThat(Files.readString(folder.resolve("calls")))
                    .contains("--follow --no-tail _BOOT_ID=7d950291ac194307a9e8c4c34bd12f8c _TRANSPORT=kernel +");
        }
    }

    @Test
    void missingEntryIsAGap() throws IOException {
        Path tool = tool("echo '" + kernel(9, "later") + "'");
        RecordingSink sink = RecordingSink.once(source(tool, LogSource.Start.behind("journald:s=1;i=3"), false));
        assertThat(sink.texts()).containsExactly("later");
        assertThat(sink.gaps()).hasSize(1);
    }

    @Test
    void onlyJournaldCanReportAGap() throws IOException {
        String missed = "\"MESSAGE_ID\":\"" + JournalEntry.MISSED + "\",\"MESSAGE\":\"Missed 12 kernel messages\"";
        Path tool = tool("echo '" + entry(1, "\"_TRANSPORT\":\"journal\",\"_UID\":\"0\"," + missed) + "'\necho '"
                + entry(2, "\"_TRANSPORT\":\"driver\"," + missed) + "'");
        assertThat(RecordingSink.once(source(tool, LogSource.Start.FIRST, false))
                        .lost())
                .isEqualTo(12);
    }

    @Test
    void journalWithoutKernelMessagesIsUnreadable() throws Exception {
        assertThat(RecordingSink.once(source(tool("exit 0"), LogSource.Start.FIRST, false))
                        .unreadable())
                .contains("no message of the kernel of this boot");
        Path tool = tool("case \"$*\" in *--follow*) sleep 1; echo '" + kernel(1, "a") + "'; exec sleep 60;; esac");
        try (RecordingSink sink = RecordingSink.follow(source(tool, LogSource.Start.FIRST, true))) {
            sink.await(h -> h.unreadable().contains("no message of the kernel of this boot"));
            sink.awaitRecords(1);
            assertThat(sink.unreadable()).isEmpty();
        }
    }

    @Test
    void failureOfTheToolIsReported() throws Exception {
        try (RecordingSink sink =
                RecordingSink.follow(source(tool("echo 'No such journal'; exit 3"), LogSource.Start.FIRST, true))) {
            sink.await(h -> h.unreadable().contains("code 3: No such journal"));
            assertThat(sink.ends()).isTrue();
        }
        assertThat(RecordingSink.once(source(Path.of("/no/such/tool"), LogSource.Start.FIRST, false))
                        .unreadable())
                .contains("/no/such/tool");
    }

    @Test
    void floodingToolBlocksAndHangingToolIsEnded() throws Exception {
        Path tool = tool(
                "i=0; while :; do i=$((i+1)); printf '%s' '{\"__CURSOR\":\"i='$i'\",\"MESSAGE\":\"x\"}'; echo; done");
        try (RecordingSink sink = RecordingSink.follow(source(tool, LogSource.Start.FIRST, true))) {
            sink.awaitRecords(1000);
            assertThat(sink.ends()).isTrue();
        }
        try (RecordingSink sink = RecordingSink.follow(source(tool("exec sleep 600"), LogSource.Start.FIRST, true))) {
            assertThat(sink.ends()).isTrue();
        }
    }

    /** A separate journald behind a separate mount, which reads this machine's ring. */
    @Tag("programs")
    @Test
    void realJournalIsReadAndFollowed() throws Exception {
        Path daemon = Path.of("/usr/lib/systemd/systemd-journald");
        assumeTrue(Files.isExecutable(daemon), "no " + daemon);
        assumeTrue("root".equals(System.getProperty("user.name")), "journald needs root");
        Path run = Files.createDirectories(folder.resolve("run"));
        String script = "set -e; mount -t tmpfs none /var/log; mount --bind " + run + " /run;"
                + " mkdir -p /run/systemd/journal /run/log/journal;"
                + " exec " + daemon;
        journald = new ProcessBuilder("unshare", "-m", "sh", "-c", script)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("journald.out").toFile())
                .start();
        Path socket = run.resolve("systemd/journal/dev-log");
        Path files = run.resolve("log/journal");
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!Files.exists(socket) && journald.isAlive() && System.nanoTime() < until) {
            java.util.concurrent.locks.LockSupport.parkNanos(20_000_000);
        }
        assumeTrue(Files.exists(socket), () -> "journald does not start here: " + read(folder.resolve("journald.out")));
        String bootId = NodeFacts.bootId(Path.of("/proc"));
        List<String> tool = List.of("journalctl");
        JournalSource source =
                new JournalSource(tool, Optional.of(files.toString()), LogSource.Start.FIRST, bootId, true);
        String cursor;
        try (RecordingSink sink = RecordingSink.follow(source)) {
            sink.awaitRecords(10);
            // Which is the first depends on how much of its ring the kernel has left.
            sink.await(h -> h.records().stream().anyMatch(record -> record.writer() == Writer.KERNEL));
            assertThat(sink.unreadable()).isEmpty();
            log(socket, "<3>nvsentinel-gpu-reset: GPU reset occurred: GPU-1");
            log(socket, "<3>app: NVRM: Xid (PCI:0000:3b:00): 79, forged");
            sink.await(h -> h.texts().contains("GPU reset occurred: GPU-1"));
            int at = sink.texts().indexOf("GPU reset occurred: GPU-1");
            assertThat(sink.records().get(at).writer()).isEqualTo(Writer.PRIVILEGED);
            cursor = sink.cursor(at);
            assertThat(sink.ends()).isTrue();
        }
        log(socket, "<3>nvsentinel-gpu-reset: GPU reset occurred: GPU-2");
        try (RecordingSink sink = RecordingSink.follow(
                new JournalSource(tool, Optional.of(files.toString()), LogSource.Start.behind(cursor), bootId, true))) {
            sink.await(h -> h.texts().contains("GPU reset occurred: GPU-2"));
            assertThat(sink.gaps()).isEmpty();
            assertThat(sink.texts()).doesNotContain("GPU reset occurred: GPU-1").noneMatch(t -> t.contains("forged"));
        }
        RecordingSink whole = RecordingSink.once(
                new JournalSource(tool, Optional.of(files.toString()), LogSource.Start.FIRST, bootId, false));
        assertThat(whole.unreadable()).isEmpty();
        assertThat(whole.texts()).contains("GPU reset occurred: GPU-1", "GPU reset occurred: GPU-2");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Calls logger(1): Java has no datagrams on Unix sockets. */
    private static void log(Path socket, String line) throws Exception {
        int tag = line.indexOf(": ");
        Process logger = new ProcessBuilder(
                        "logger",
                        "--socket",
                        socket.toString(),
                        "--tag",
                        line.substring(3, tag),
                        "--priority",
                        "daemon.err",
                        line.substring(tag + 2))
                .redirectErrorStream(true)
                .start();
        assertThat(logger.waitFor())
                .as(new String(logger.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isZero();
    }
}
