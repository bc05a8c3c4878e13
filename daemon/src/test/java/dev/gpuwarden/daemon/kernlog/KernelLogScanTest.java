package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelLogStatus.Gap;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.testkit.TestClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelLogScanTest {

    @TempDir
    Path folder;

    @BeforeEach
    void node() throws IOException {
        Files.createDirectories(folder.resolve("proc"));
        Files.writeString(folder.resolve("proc/uptime"), "7200.00 1.0\n");
    }

    private KernelLogScan.Result scan(KernelLogSettings.Source source, Path path) {
        return KernelLogScan.sinceBoot(
                MonitoredKernelLog.settings(source, path),
                RecordRules.NONE,
                NodePaths.of(folder.resolve("proc"), folder, folder),
                KernelLogParser.standard(),
                new NodeSnapshot(new NodeSnapshot.DriverState.Opening(), Reading.absent(Absence.PENDING), List.of()),
                "node1");
    }

    @Test
    void scanReturnsTheFaultsCurrentAtTheEnd() throws IOException {
        Path log = Files.writeString(
                folder.resolve("kmsg"),
                String.join(
                        "\n",
                        "4,0,0,-;" + ClassifierFixture.XID79.replace("3b", "99"),
                        "5,0,0,-;Linux version 6.1.0",
                        "4,1,1000000,-;NVRM: GPU at PCI:0000:03:00: " + ClassifierFixture.GPU,
                        "4,2,2000000,-;NVRM: Xid (PCI:0000:03:00): 48, pid=1, name=a",
                        "4,3,3000000,-;" + ClassifierFixture.XID79,
                        "4,4,4000000,-;" + ClassifierFixture.XID13,
                        "4,5,7199000000,-;" + ClassifierFixture.XID13.replace("3b", "3c"),
                        "12,6,7199000000,-;GPU reset occurred: " + ClassifierFixture.GPU,
                        ""));
        KernelLogScan.Result result = scan(KernelLogSettings.Source.FILE, log);
        assertThat(result.faults())
                .extracting(fault ->
                        fault.key().errorCode() + " " + fault.key().entity().value())
                .containsExactly("79 0000:3b:00", "13 0000:3c:00");
        assertThat(result.faults()).noneMatch(Fault::decides).anyMatch(Fault::unproven);
        assertThat(scan(KernelLogSettings.Source.KMSG, log).faults()).anyMatch(Fault::decides);
        KernelLogStatus status = result.status().asOptional().orElseThrow();
        assertThat(status.records()).isEqualTo(7);
        assertThat(status.gaps()).isZero();
        assertThat(status.unreadable()).isEmpty();
    }

    @Test
    void scanReportsAnUnreadableLog() {
        KernelLogScan.Result gone = scan(KernelLogSettings.Source.FILE, folder.resolve("none"));
        assertThat(gone.faults()).isEmpty();
        assertThat(gone.status().asOptional().orElseThrow().unreadable().orElseThrow())
                .contains("does not exist");
        assertThat(scan(KernelLogSettings.Source.AUTO, folder.resolve("none"))
                        .status()
                        .asOptional()
                        .orElseThrow()
                        .unreadable())
                .isPresent();
        assertThat(scan(KernelLogSettings.Source.NONE, null).status()).isInstanceOf(Reading.Absent.class);
    }

    @Test
    void scanRefusesAPipe() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        assertThat(scan(KernelLogSettings.Source.KMSG, pipe)
                        .status()
                        .asOptional()
                        .orElseThrow()
                        .unreadable()
                        .orElseThrow())
                .contains("pipe");
    }

    @Test
    void ownRingIsReadQuickly() {
        assumeTrue(Files.isReadable(Path.of("/dev/kmsg")), "this machine's /dev/kmsg cannot be read");
        KernelLogScan.Result result = scan(KernelLogSettings.Source.KMSG, null);
        KernelLogStatus status = result.status().asOptional().orElseThrow();
        assumeTrue(status.unreadable().isEmpty(), () -> "this machine's ring cannot be read: " + status.unreadable());
        assertThat(status.records()).isPositive();
    }

    private static KernelLogStatus status(Optional<Gap> gap, Optional<String> unreadable) {
        return status(gap, Optional.empty(), unreadable);
    }

    private static KernelLogStatus status(
            Optional<Gap> gap, Optional<KernelLogStatus.Unread> unread, Optional<String> unreadable) {
        return status("/dev/kmsg", gap, unread, unreadable);
    }

    private static KernelLogStatus status(
            String source, Optional<Gap> gap, Optional<KernelLogStatus.Unread> unread, Optional<String> unreadable) {
        return new KernelLogStatus(
                source,
                TestClock.START,
                7,
                gap.isPresent() ? 1 : 0,
                0,
                gap,
                0,
                unread.isPresent() ? 3 : 0,
                unread,
                0,
                unreadable,
                Optional.empty());
    }

    @Test
    void checkIsUndecidedAfterARecordThatWasNotRead() {
        Instant now = TestClock.START;
        KernelLogStatus.Unread recent = new KernelLogStatus.Unread(now.minus(Duration.ofMinutes(59)), "x NVRM: Xid");
        Finding unread =
                KernelLogCheck.judge(Reading.of(status(Optional.empty(), Optional.of(recent), Optional.empty())), now);
        assertThat(unread.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(unread.message()).contains("3 records about an XID in a form that is not read", "x NVRM: Xid");
        KernelLogStatus.Unread old = new KernelLogStatus.Unread(now.minus(Duration.ofMinutes(61)), "");
        assertThat(KernelLogCheck.judge(Reading.of(status(Optional.empty(), Optional.of(old), Optional.empty())), now)
                        .outcome())
                .isEqualTo(Outcome.PASS);
    }

    @ParameterizedTest
    @CsvSource({
        "/dev/kmsg, `gpuwarden xid decode` explains its number",
        "journald, `gpuwarden xid decode` explains its number",
        "journald in /var/log/journal, `gpuwarden xid decode` explains its number",
        "/var/log/kern.log, read /dev/kmsg or the journal instead of a file",
    })
    void adviceAboutARecordThatWasNotReadNamesAnotherSourceWhereThereIsABetterOne(String source, String advice) {
        KernelLogStatus status = status(
                source,
                Optional.empty(),
                Optional.of(new KernelLogStatus.Unread(TestClock.START, "x NVRM: Xid")),
                Optional.empty());
        assertThat(KernelLogCheck.judge(Reading.of(status), TestClock.START).remedy())
                .isEqualTo("examine the GPU that it names; " + advice);
    }

    @Test
    void checkIsUndecidedAfterAGap() {
        Instant now = TestClock.START;
        Finding fine = KernelLogCheck.judge(Reading.of(status(Optional.empty(), Optional.empty())), now);
        assertThat(fine.outcome()).isEqualTo(Outcome.PASS);
        Gap recent = new Gap(now.minus(Duration.ofMinutes(59)), 3, "3 records were overwritten");
        Finding gap = KernelLogCheck.judge(Reading.of(status(Optional.of(recent), Optional.empty())), now);
        assertThat(gap.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(gap.message()).contains("3 records were overwritten");
        Gap old = new Gap(now.minus(Duration.ofMinutes(61)), 3, "");
        assertThat(KernelLogCheck.judge(Reading.of(status(Optional.of(old), Optional.empty())), now)
                        .outcome())
                .isEqualTo(Outcome.PASS);
        assertThat(KernelLogCheck.judge(Reading.of(status(Optional.empty(), Optional.of("no permission"))), now)
                        .outcome())
                .isEqualTo(Outcome.UNKNOWN);
        assertThat(KernelLogCheck.judge(Reading.absent(Absence.PENDING), now).outcome())
                .isEqualTo(Outcome.SKIPPED);
    }
}
