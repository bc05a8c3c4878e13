package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.node.ResetUnits;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A daemon that begins after one that ended in the middle of a repair, at each of its steps. */
class ServerRepairLoopTest {

    private static final Instant BEGAN = Instant.parse("2026-06-01T00:00:00Z");

    /** A node without a fault. */
    private static final class NoFaults implements EventReader {
        @Override
        public List<Fault> faults() {
            return List.of();
        }

        @Override
        public List<StoredEvent> events(EventFilter filter) {
            return List.of();
        }

        @Override
        public Optional<StoredEvent> event(String id) {
            return Optional.empty();
        }

        @Override
        public Subscription listen(Consumer<EventChange> listener) {
            return () -> {};
        }
    }

    @TempDir
    Path folder;

    private RepairLog log(Instant now) throws IOException {
        return RepairLog.open(folder.resolve("repairs.jsonl"), Clock.fixed(now, ZoneOffset.UTC));
    }

    private ServerRepairLoop loop(RepairLog log, String boot, Instant now) {
        ServerRepairLoop.Setup setup = new ServerRepairLoop.Setup(
                true,
                new RepairRules(Duration.ZERO, 2, 4, true),
                boot,
                new NoFaults(),
                List::of,
                () -> ResetUnits.UNKNOWN,
                true,
                Optional::empty);
        EvidenceRun evidence =
                new EvidenceRun(RepairProcess.child, List.of(), folder.resolve("bundles"), EvidenceRun.LONGEST);
        RepairSteps.Server server = new RepairSteps.Server(
                new ResetRun(RepairProcess.child, Duration.ZERO, List.of(), Optional.empty()),
                new RebootRun(RebootRun.SYSTEMD, Duration.ofSeconds(1), evidence),
                () -> {},
                new SystemUnits(List.of()),
                Optional.empty(),
                Duration.ZERO,
                Optional.empty(),
                Optional.empty());
        return new ServerRepairLoop(setup, server, log, Clock.fixed(now, ZoneOffset.UTC));
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
        Instant now = BEGAN.plus(Duration.ofMinutes(minutes));
        RepairLog next = log(now);
        loop(next, boot, now).step();
        assertThat(next.attempts())
                .singleElement()
                .extracting(seen -> seen.end()
                        .map(last -> last.outcome() + " " + last.detail())
                        .orElse(null))
                .isEqualTo(end);
    }
}
