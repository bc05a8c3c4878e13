package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.InMemoryEvents;
import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.checks.verify.Verification;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.ResetUnits;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import dev.gpuwarden.daemon.reset.PersistenceRecord;
import dev.gpuwarden.testkit.TestClock;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A daemon that begins after one that ended in the middle of a repair, at each of its steps. */
class ServerRepairLoopTest {

    private static final Instant BEGAN = Instant.parse("2026-06-01T00:00:00Z");

    @TempDir
    Path folder;

    private final InMemoryEvents events = new InMemoryEvents();

    private RepairLog log(Instant now) throws IOException {
        return RepairLog.open(folder.resolve("repairs.jsonl"), Clock.fixed(now, ZoneOffset.UTC));
    }

    private ServerRepairLoop loop(RepairLog log, String boot, Clock clock, LongSupplier nanoTime) {
        ServerRepairLoop.Setup setup = new ServerRepairLoop.Setup(
                true,
                new RepairRules(Duration.ZERO, 2, 4, true, Set.of()),
                boot,
                events,
                () -> new FaultEvidence(List.of(), List.of()),
                () -> new ServerGpus(Set.of("GPU-a"), Set.of("GPU-a"), Set.of(), ResetUnits.UNKNOWN),
                true,
                Optional::empty);
        EvidenceRun evidence = new EvidenceRun(
                RepairProcess.child, List::of, folder.resolve("bundles"), EvidenceRun.LONGEST, ProgramRunner.PROCESSES);
        ResetRun reset =
                new ResetRun(RepairProcess.child, Duration.ZERO, List::of, Optional.empty(), ProgramRunner.PROCESSES);
        RepairSteps.Server server = new RepairSteps.Server(
                reset,
                new RebootRun(RebootRun.SYSTEMD, Duration.ofSeconds(1), evidence, ProgramRunner.PROCESSES),
                () -> {},
                new SystemUnits(List.of(), ProgramRunner.PROCESSES),
                Optional.empty(),
                Duration.ZERO,
                Optional.empty(),
                Optional.empty(),
                RepairSteps::sleep);
        LeftPersistence left = new LeftPersistence(folder, new PersistenceRecord(folder, boot), reset, clock);
        return new ServerRepairLoop(setup, server, left, log, clock, nanoTime);
    }

    /**
     * @param steps the record's steps; with `!` one that failed, and with a detail after `=`
     * @param boot the present boot; the repair began in the boot `one`
     * @param end outcome and detail; empty for a repair that is still in progress
     */
    @ParameterizedTest(name = "{0} after {1}, boot {2}, {3} min later")
    @CsvSource(
            nullValues = "-",
            delimiter = '|',
            value = {
                "RESET  | -                                                  | one | 1  | HELD the daemon ended in the middle",
                "RESET  | slurm-drain                                        | one | 1  | HELD the daemon ended in the middle",
                "RESET  | begin-reset                                        | one | 1  | HELD the daemon ended in the middle",
                "RESET  | begin-reset                                        | two | 1  | FAILED the server booted during the reset",
                "RESET  | begin-reset reset=2_passed                         | one | 1  | SUCCEEDED 2 passed",
                "RESET  | begin-reset reset=2_passed                         | two | 1  | SUCCEEDED 2 passed",
                "RESET  | begin-reset !reset=step_reset:_no                  | one | 1  | FAILED step reset: no",
                "RESET  | begin-reset !reset=step_verify:_no                 | two | 1  | FAILED step verify: no",
                "RESET  | begin-reset !reset=step_unused:_in_use             | one | 1  | HELD step unused: in use",
                "HOOK   | begin-hook                                         | one | 1  | FAILED the daemon ended in the middle",
                "HOOK   | begin-hook hook=ticket_7                           | one | 1  | SUCCEEDED ticket 7",
                "HOOK   | begin-hook !hook=code_3                            | one | 1  | FAILED code 3",
                "REBOOT | -                                                  | one | 1  | HELD the daemon ended in the middle",
                "REBOOT | evidence=evidence_in_/x.zip                        | one | 1  | HELD the daemon ended in the middle; evidence in /x.zip",
                "REBOOT | reboot                                             | one | 14 | -",
                "REBOOT | reboot                                             | one | 15 | FAILED no other boot within 15 m after the request",
                "REBOOT | reboot                                             | two | 1  | SUCCEEDED boot two",
                "REBOOT | !unreadable-line=x                                 | two | 1  | SUCCEEDED boot two",
                "REBOOT | !unreadable-line=x                                 | one | 1  | HELD the daemon ended in the middle",
                "RESET  | begin-reset !unreadable-line=x                     | one | 1  | HELD the daemon ended in the middle",
                "HOOK   | begin-hook !unreadable-line=x                      | one | 1  | FAILED the daemon ended in the middle",
            })
    void repairThatADaemonLeftOpenComesToItsEnd(Kind kind, String steps, String boot, int minutes, String end)
            throws Exception {
        RepairLog before = log(BEGAN);
        RepairAttempt attempt = before.begin(kind, Set.of("GPU-a"), "xid", "one");
        for (String each : steps == null ? new String[0] : steps.split(" ")) {
            String[] parts = each.replace("!", "").split("=", 2);
            String detail = parts.length > 1 ? parts[1].replace('_', ' ') : "";
            before.step(attempt, new Step(parts[0], "", !each.startsWith("!"), detail, Duration.ZERO, BEGAN));
        }
        AtomicLong nanos = new AtomicLong();
        RepairLog next = log(BEGAN);
        // The wall clock was set back, which delays nothing.
        ServerRepairLoop loop =
                loop(next, boot, Clock.fixed(BEGAN.minus(Duration.ofDays(1)), ZoneOffset.UTC), nanos::get);
        loop.step();
        nanos.addAndGet(Duration.ofMinutes(minutes).toNanos());
        if (next.unfinished().isPresent()) {
            loop.step();
        }
        assertThat(next.attempts())
                .singleElement()
                .extracting(seen -> seen.end()
                        .map(last -> last.outcome() + " " + last.detail())
                        .orElse(null))
                .isEqualTo(end);
    }

    private static HealthEvent pending() {
        return Verification.after(
                        Verification.Repair.BOOT,
                        List.of(HealthEvent.of("a", "GPU", "Xid")
                                .nodeName("n")
                                .fatal(true)
                                .entities(List.of(Entity.gpu("GPU-a")))
                                .build()),
                        BEGAN)
                .get(0);
    }

    @Test
    void aClockThatIsSetAfterTheBootEndsNoVerification() throws Exception {
        TestClock clock = new TestClock();
        AtomicLong nanos = new AtomicLong();
        RepairLog log = RepairLog.open(folder.resolve("repairs.jsonl"), clock);
        RepairAttempt attempt = log.begin(Kind.REBOOT, Set.of("GPU-a"), "xid", "one");
        log.step(attempt, new Step(RepairAttempt.REBOOT, "", true, "", Duration.ZERO, BEGAN));
        events.accept(List.of(pending()), Optional.empty());
        clock.set(Instant.EPOCH);
        ServerRepairLoop loop = loop(log, "two", clock, nanos::get);
        loop.step();
        clock.set(BEGAN);
        loop.step();
        assertThat(log.unfinished()).isPresent();
        nanos.addAndGet(Duration.ofMinutes(30).toNanos());
        loop.step();
        assertThat(log.unfinished()).isEmpty();
    }

    @Test
    void rebootWhoseGpuIsHeldNamesTheHolderUntilItIsFree() throws Exception {
        TestClock clock = new TestClock();
        clock.set(BEGAN);
        RepairLog log = RepairLog.open(folder.resolve("repairs.jsonl"), clock);
        RepairAttempt attempt = log.begin(Kind.REBOOT, Set.of("GPU-a"), "xid", "one");
        log.step(attempt, new Step(RepairAttempt.REBOOT, "", true, "", Duration.ZERO, BEGAN));
        HealthEvent cause = pending();
        String held = "gpu-results (gpu-held) has not passed since the boot: the GPU is not free, held by process 7"
                + " (python3) of llama.service";
        HealthEvent open = cause.toBuilder()
                .errorCodes(List.of("gpu-results"))
                .message(held)
                .build();
        events.accept(List.of(cause, open), Optional.empty());

        ServerRepairLoop loop = loop(log, "two", clock, clock);
        loop.step();
        assertThat(loop.status().text()).endsWith(held);
        clock.advance(Duration.ofMinutes(30));
        loop.step();
        assertThat(log.attempts().get(0).end().orElseThrow().detail())
                .isEqualTo("its checks have not passed within 30 m after the boot: " + held);
        loop.step();
        assertThat(loop.status().tasks()).containsExactly("let the checks after the repair pass: " + held);

        events.accept(
                List.of(
                        Verification.end(open, "passed", clock.instant()),
                        Verification.end(cause, "passed", clock.instant())),
                Optional.empty());
        loop.step();
        assertThat(loop.status().tasks()).isEmpty();
    }

    @Test
    void resetOfAnEarlierDaemonIsAwaitedWithALimit() throws Exception {
        RepairLog before = log(BEGAN);
        RepairAttempt attempt = before.begin(Kind.RESET, Set.of("GPU-a"), "xid", "one");
        before.step(attempt, new Step(RepairAttempt.BEGIN_RESET, "", true, "", Duration.ZERO, BEGAN));
        try (FileChannel other = FileChannel.open(
                folder.resolve("gpu-reset.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            assertThat(other.tryLock()).isNotNull();
            AtomicLong nanos = new AtomicLong();
            ServerRepairLoop loop = loop(before, "one", Clock.fixed(BEGAN, ZoneOffset.UTC), nanos::get);
            loop.step();
            nanos.addAndGet(Duration.ofMinutes(40).toNanos());
            loop.step();
            assertThat(before.unfinished()).isPresent();
            assertThat(loop.status().text()).endsWith("runs since an earlier daemon");
            nanos.addAndGet(1);
            loop.step();
            assertThat(before.attempts().get(0).end().orElseThrow().detail())
                    .isEqualTo("gpu-reset of an earlier daemon did not end in time");
        }
    }

    /** A line that cannot be read may have been the stop of a unit. */
    @Test
    void everyUnitStartsAfterARepairWithALineThatCannotBeRead() throws Exception {
        RepairLog log = log(BEGAN);
        RepairAttempt attempt = log.begin(Kind.RESET, Set.of("GPU-a"), "xid", "one");
        log.step(attempt, new Step(RepairAttempt.STOP, "b.service", true, "requested", Duration.ZERO, BEGAN));
        List<String> starts = new ArrayList<>();
        SystemUnits units =
                new SystemUnits(List.of("a.service", "b.service"), (command, place, variables, time, stop) -> {
                    starts.add(String.join(" ", command));
                    return RepairWorld.exit(0, "");
                });
        UnitSteps steps = new UnitSteps(units, log, any -> {});
        steps.start(attempt);
        assertThat(starts).containsExactly("systemctl start -- b.service");
        starts.clear();
        log.step(attempt, new Step(RepairAttempt.UNREADABLE, "", false, "x", Duration.ZERO, BEGAN));
        steps.start(attempt);
        assertThat(starts).containsExactly("systemctl start -- b.service", "systemctl start -- a.service");
    }
}
