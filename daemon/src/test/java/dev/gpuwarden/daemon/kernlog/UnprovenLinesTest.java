package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.testkit.TestClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines whose source does not show who wrote them: no program acts on them, and they end nothing that was proven. */
class UnprovenLinesTest {

    private static final String RESET = "GPU reset occurred: " + ClassifierFixture.GPU;
    private static final String SYSLOG = "Nov 21 02:00:02 node-1 ";

    @TempDir
    Path folder;

    private ClassifierFixture log;

    @BeforeEach
    void listGpu() {
        log = new ClassifierFixture().driverLists("0000:3b:00.0", ClassifierFixture.GPU);
    }

    private ClassifierFixture unproven(String text) {
        return log.record(Writer.UNTOLD, Instant.EPOCH, text);
    }

    @Test
    void faultIsStoredAndNothingActsOnIt() {
        HealthEvent event = unproven(ClassifierFixture.XID79).flushIfDue().get(0);
        assertThat(event.errorCodes()).containsExactly("79");
        assertThat(event.generated()).isEqualTo(TestClock.START);
        assertThat(event.fatal()).isTrue();
        assertThat(event.strategy()).isEqualTo(ProcessingStrategy.STORE_ONLY);
        assertThat(event.metadata()).containsEntry("gpuwarden.dev/writer", "unknown");
        assertThat(ActionText.advice(event)).startsWith("the log does not show who wrote this line");
        assertThat(log.store.faults()).isNotEmpty().noneMatch(Fault::decides).allMatch(Fault::unproven);
        assertThat(NodeVerdict.reasons(List.of(), log.store.faults()))
                .isNotEmpty()
                .allMatch(finding -> finding.code().equals("unproven-fault"));
        assertThat(NodeVerdict.of(List.of(), log.store.faults())).isEqualTo(Verdict.UNDECIDED);
    }

    @Test
    void recordOfAFileThatProvesNothingIsNotTheKernels() {
        log.record(new KernelRecord(Instant.EPOCH, Writer.KERNEL, ClassifierFixture.XID79, false));
        assertThat(log.flushIfDue()).extracting(HealthEvent::strategy).containsExactly(ProcessingStrategy.STORE_ONLY);
        log.record(new KernelRecord(Instant.EPOCH, Writer.PRIVILEGED, ClassifierFixture.XID79, false));
        assertThat(log.flush()).isEmpty();
    }

    @Test
    void lineEndsNoProvenFault() {
        log.kernel(ClassifierFixture.XID79).flush();
        assertThat(unproven(RESET).flush()).isEmpty();
        assertThat(log.store.faults()).hasSize(2).allMatch(Fault::decides);
    }

    @Test
    void lineChangesNoProvenFault() {
        log.kernel(ClassifierFixture.XID79).flush();
        List<Fault> before = log.store.faults();
        assertThat(unproven(ClassifierFixture.XID79).flush()).isEmpty();
        assertThat(log.store.faults()).isEqualTo(before);
    }

    @Test
    void lineEndsFaultsOfItsKindAlone() {
        unproven(ClassifierFixture.XID79).flush();
        log.kernel(ClassifierFixture.XID79.replace(": 79,", ": 48,")).flush();
        assertThat(unproven(RESET).flush()).extracting(HealthEvent::errorCodes).containsExactly(List.of("79"));
        assertThat(log.store.faults())
                .extracting(fault -> fault.key().errorCode())
                .containsOnly("48");
    }

    @Test
    void proofMakesTheFaultCount() {
        unproven(ClassifierFixture.XID79).kernel(ClassifierFixture.XID79).flush();
        assertThat(log.store.faults()).hasSize(2).allMatch(Fault::decides);
        log.record(Writer.PRIVILEGED, Instant.EPOCH, RESET).flush();
        assertThat(log.store.faults()).isEmpty();
    }

    @Test
    void nameOfAGpuCountsOnlyWhereNoOtherIsKnown() {
        String other = "GPU-00000000-0000-0000-0000-000000000000";
        unproven("NVRM: GPU at PCI:0000:3b:00: " + other);
        log.kernel(ClassifierFixture.XID79);
        assertThat(log.flush().get(0).entities().get(1).value()).isEqualTo(ClassifierFixture.GPU);
        unproven("NVRM: GPU at PCI:0000:3c:00: " + other).kernel(ClassifierFixture.XID79.replace("3b", "3c"));
        assertThat(log.flush().get(0).entities()).hasSize(2);
        // The next process may read a log that proves its writers.
        ClassifierFixture next = new ClassifierFixture(Rules.NONE, log.time, log.store);
        next.resumeAt(100);
        next.kernel(ClassifierFixture.XID79.replace("3b", "3c").replace(": 79,", ": 48,"));
        assertThat(next.flush().get(0).entities()).hasSize(1);
    }

    private List<KernelRecord> read(LineTrust trust, String... lines) throws IOException {
        Files.writeString(folder.resolve("uptime"), "100.0 1.0");
        Path file = Files.writeString(folder.resolve("log"), String.join("\n", lines) + "\n");
        LogSource source = new FileSource(
                file, LogSource.Start.FIRST, false, new Boot(folder, Clock.systemUTC()), ZoneOffset.UTC, trust);
        return RecordingSink.once(source).records();
    }

    @ParameterizedTest
    @CsvSource({"NONE, false, false", "RECORDS, false, true", "KERNEL_TAG, true, true"})
    void trustDecidesWhichLinesAreProven(LineTrust trust, boolean tag, boolean record) throws IOException {
        assertThat(read(trust, SYSLOG + "kernel: " + ClassifierFixture.XID79)
                        .get(0)
                        .proven())
                .isEqualTo(tag);
        assertThat(read(trust, "4,1,1,-;" + ClassifierFixture.XID79).get(0).proven())
                .isEqualTo(record);
        // Any program can send a line without a tag, and a reset job is no kernel.
        assertThat(read(trust, SYSLOG + "[    1.234567] " + ClassifierFixture.XID79)
                        .get(0)
                        .proven())
                .isFalse();
        assertThat(read(trust, SYSLOG + "nvsentinel-gpu-reset: " + RESET).get(0).proven())
                .isFalse();
    }

    /** Lines in the form of RFC 5424 | writer | whether the kernel's tag proves them. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    <3>1 2026-11-28T21:18:15Z vm kernel - - [meta sequenceId="1"] % | UNTOLD | true
                    <3>1 2026-11-28T21:18:15Z vm kernel - - [m a="\\]\\""][origin ip="::1"] ﻿% | UNTOLD | true
                    <13>1 2026-11-28T21:18:15Z vm kernel - - [meta sequenceId="1"] % | USER | false
                    <13>1 2026-11-28T21:18:15Z vm app 7 - [meta sequenceId="1"] kernel: % | USER | false
                    <3>1 2026-11-28T21:18:15Z vm - - - [meta sequenceId="1"] % | UNTOLD | false""")
    void kernelsLineWithStructuredDataIsRead(String line, Writer writer, boolean proven) throws IOException {
        KernelRecord record = read(LineTrust.KERNEL_TAG, line.replace("%", ClassifierFixture.XID79))
                .get(0);
        assertThat(record.writer()).isEqualTo(writer);
        assertThat(record.proven()).isEqualTo(proven);
        assertThat(record.text()).endsWith(ClassifierFixture.XID79);
        assertThat(record.text().length() == ClassifierFixture.XID79.length()).isEqualTo(!line.contains("app"));
        assertThat(record.time()).isEqualTo(Instant.parse("2026-11-28T21:18:15Z"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    <3>1 2026-11-28T21:18:15Z vm kernel - - [meta text="%"] ok
                    <3>1 2026-11-28T21:18:15Z vm kernel - - [meta text="a\\"] %"] ok
                    <3>1 2026-11-28T21:18:15Z vm kernel - - [meta text="] %
                    <3>1 2026-11-28T21:18:15Z vm kernel - - [meta] app: %""")
    void quotationWithStructuredDataIsNoMessage(String line) throws IOException {
        KernelRecord record = read(LineTrust.KERNEL_TAG, line.replace("%", ClassifierFixture.XID79))
                .get(0);
        log.record(record);
        assertThat(log.flush()).isEmpty();
    }

    @Test
    void recordWithinAnotherLogIsNotProven() throws IOException {
        List<KernelRecord> records =
                read(LineTrust.RECORDS, SYSLOG + "app: a message with", "4,1,1,-;" + ClassifierFixture.XID79);
        assertThat(records.get(1).writer()).isEqualTo(Writer.KERNEL);
        assertThat(records.get(1).proven()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"FILE, rw-r--r--, true", "KMSG, rw-r--r--, false", "AUTO, rw-r--r--, false", "AUTO, rw-rw-rw-, true"})
    void fileForTheDeviceProvesItsRecordsUnlessAnyUserWritesToIt(
            KernelLogSettings.Source source, String mode, boolean nothing) throws IOException {
        Path file = Files.createFile(folder.resolve("kmsg"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
        Optional<LogSource> chosen = new SourceSelector(
                        MonitoredKernelLog.settings(source, file),
                        new Boot(folder, Clock.systemUTC()),
                        Optional.empty())
                .choose(LogSource.Start.FIRST, false)
                .source();
        assertThat(chosen.orElseThrow().provesNothing()).isEqualTo(nothing);
    }
}
