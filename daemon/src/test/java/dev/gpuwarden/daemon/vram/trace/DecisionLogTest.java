package dev.gpuwarden.daemon.vram.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.file.RotatingLog;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.trace.DecisionRecord.Origin;
import dev.gpuwarden.daemon.vram.watch.Remembered;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DecisionLogTest {

    private static final long MIB = 1 << 20;
    private static final WatchdogRules RULES = WatchdogRules.DEFAULT;
    private static final Origin ORIGIN = new Origin("node", "boot-1", "armed");
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-01-31T12:00:00Z"), ZoneOffset.UTC);

    @TempDir
    Path folder;

    private final RecycleHistory history = new RecycleHistory(RULES.recycle());
    private final GpuWatchdog watchdog = new GpuWatchdog(RULES.pressure(), RULES.recycle(), history);
    private long nanos = 1_000_000_000_000L;
    private long sequence;
    private String offender = "offender-1";

    private Path file() {
        return folder.resolve("records");
    }

    private DecisionLog log(long mostBytes) {
        return new DecisionLog(file(), mostBytes, ORIGIN, RULES, CLOCK);
    }

    /** Observes an offender of this size on a card of 16000 MiB, and gives the decision to the log. */
    private Decision decide(DecisionLog log, long usedMib) {
        nanos += 250_000_000;
        Tenant tenant = new Tenant(
                offender,
                offender,
                offender.substring(0, offender.length() - 2),
                Reading.of(1000 * MIB),
                Reading.of(usedMib * MIB),
                Set.of(new ProcessKey(1, 1)),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
        GpuBytes bytes = new GpuBytes(16000 * MIB, 0, usedMib * MIB, (16000 - usedMib) * MIB);
        GpuObservation seen = new GpuObservation(
                "GPU-1",
                nanos,
                ++sequence,
                usedMib == 0 ? Reading.absent(Absence.GPU_LOST) : Reading.of(bytes),
                Reading.of(List.of(tenant)),
                nanos);
        WatchdogState before = watchdog.state();
        Decision decision = watchdog.decide(seen);
        log.decided(decision, before);
        return decision;
    }

    private List<DecisionRecord> records(List<ActionRecord> actions) {
        List<DecisionRecord> decisions = new ArrayList<>();
        Records.read(file(), decisions::add, actions::add, wrong -> {
            throw wrong;
        });
        return decisions;
    }

    private List<Verdict> verdicts() {
        return records(new ArrayList<>()).stream()
                .map(record -> record.decision().verdict())
                .toList();
    }

    @Test
    void oneRecordIsWrittenForEachChange() {
        List<ActionRecord> actions = new ArrayList<>();
        try (DecisionLog log = log(1 << 20)) {
            for (int i = 0; i < 8; i++) {
                decide(log, 5000);
            }
            decide(log, 15500);
            Decision recycle = decide(log, 15500);
            log.acted(recycle, "signal", new Actuator.Outcome(true, "SIGTERM to 1 process"));
            for (int i = 0; i < 8; i++) {
                decide(log, 15500);
            }
        }
        assertThat(records(actions))
                .extracting(record -> record.decision().verdict())
                .containsExactly(Verdict.CALM, Verdict.RECYCLE, Verdict.RELEASING);
        assertThat(records(actions))
                .allSatisfy(record -> assertThat(record.decideAgain()).isEqualTo(record.decision()));
        assertThat(actions.get(0))
                .isEqualTo(new ActionRecord(
                        CLOCK.instant(), "GPU-1", 10, "offender-1", "signal", "accepted", "SIGTERM to 1 process"));
    }

    @Test
    void aVerdictThatFlapsIsRecordedUpToALimit() {
        try (DecisionLog log = log(1 << 20)) {
            for (int i = 0; i < 60; i++) {
                decide(log, 5000);
                decide(log, 0);
            }
        }
        assertThat(verdicts()).hasSizeBetween(30, 31);
    }

    @Test
    void aFullFileIsRenamedAndTheNewOneBeginsWithTheLastDecision() throws IOException {
        try (DecisionLog log = log(5000)) {
            for (int i = 0; i < 12; i++) {
                decide(log, i % 2 == 0 ? 5000 : 0);
            }
            assertThat(log.lost()).isZero();
        }
        assertThat(Files.size(file())).isLessThanOrEqualTo(5000);
        assertThat(Files.size(RotatingLog.older(file(), 1))).isBetween(2000L, 5000L);
        List<Long> sequences = records(new ArrayList<>()).stream()
                .map(record -> record.decision().seen().sequence())
                .toList();
        assertThat(sequences).isSorted().endsWith(11L, 11L, 12L);
    }

    @Test
    void aLineThatWasCutOffIsRemovedByTheNextWriter() throws IOException {
        try (DecisionLog log = log(1 << 20)) {
            decide(log, 5000);
        }
        Files.writeString(file(), "{\"schema\":\"gpuwarden.vram-dec", StandardOpenOption.APPEND);
        assertThat(verdicts()).containsExactly(Verdict.CALM);
        try (DecisionLog log = log(1 << 20)) {
            decide(log, 0);
        }
        assertThat(verdicts()).containsExactly(Verdict.CALM, Verdict.BLIND);
    }

    @Test
    void aRecordThatCannotBeWrittenIsCountedAndTheNextOneIsTried() throws IOException {
        DecisionLog log = log(1 << 20);
        Files.createDirectory(file());
        decide(log, 5000);
        await(() -> log.lost() == 1);
        Files.delete(file());
        decide(log, 0);
        log.close();
        assertThat(verdicts()).containsExactly(Verdict.BLIND);
        assertThat(log.written()).isEqualTo(1);
        assertThat(log.lost()).isEqualTo(1);
    }

    @Test
    void aSecondWriterWritesNothing() {
        try (DecisionLog first = log(1 << 20);
                DecisionLog second = log(1 << 20)) {
            decide(first, 5000);
            await(() -> first.written() == 1);
            decide(second, 0);
            await(() -> second.lost() == 1);
        }
        assertThat(verdicts()).containsExactly(Verdict.CALM);
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + 10_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
    }

    /** Lets the offender be recycled, and returns the state of a watchdog that a daemon of this place begins with. */
    private Remembered afterRecycle(Origin now, long nowNanos) {
        try (DecisionLog log = log(1 << 20)) {
            decide(log, 15500);
            decide(log, 15500);
        }
        assertThat(verdicts()).contains(Verdict.RECYCLE);
        return Remembered.read(file(), now, nowNanos);
    }

    @Test
    void aRestartRemembersTheRecycleAndItsTime() {
        Remembered remembered = afterRecycle(ORIGIN, nanos + 1_002_000_000_000L);
        assertThat(remembered.history()).isEqualTo(history.state());
        assertThat(remembered.of("GPU-1").endings()).containsEntry("offender-1", new WatchdogState.Ending(nanos, true));
        assertThat(remembered.of("GPU-2")).isEqualTo(WatchdogState.NONE);
        assertThat(remembered.problems()).isEmpty();
    }

    @Test
    void afterABootNoTimeCountsAsPassed() {
        Remembered remembered = afterRecycle(new Origin("node", "boot-2", "armed"), 5_000_000_000L);
        assertThat(remembered.history().lastHourNanos()).containsExactly(5_000_000_000L);
        assertThat(remembered.of("GPU-1").endings())
                .containsEntry("offender-1", new WatchdogState.Ending(5_000_000_000L, true));
    }

    @Test
    void anArmedDaemonForgetsADryRun() {
        Remembered remembered = afterRecycle(new Origin("node", "boot-1", "dry-run"), nanos);
        assertThat(remembered.history()).isEqualTo(RecycleHistory.State.NONE);
        assertThat(remembered.byGpu()).isEmpty();
    }

    @Test
    void aBrokenFileIsAProblemAndNoError() throws IOException {
        assertThat(Remembered.read(file(), ORIGIN, 0).problems()).isEmpty();
        afterRecycle(ORIGIN, nanos);
        Files.writeString(file(), "garbage\n", StandardOpenOption.APPEND);
        Remembered remembered = Remembered.read(file(), ORIGIN, nanos);
        assertThat(remembered.problems()).singleElement().asString().contains("records:3: ");
        assertThat(remembered.history()).isEqualTo(history.state());
    }
}
