package dev.gpuwarden.daemon.vram.notice;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.RunningProcesses;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.action.ProcessSet;
import dev.gpuwarden.daemon.vram.budgets.NotifySignal;
import dev.gpuwarden.daemon.vram.reserve.Applicants;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.trace.ActionRecord;
import dev.gpuwarden.daemon.vram.trace.DecisionLog;
import dev.gpuwarden.daemon.vram.trace.DecisionRecord;
import dev.gpuwarden.daemon.vram.trace.Records;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signals to a real process that fills a card beyond its budget. Another tenant has a floor that is breached for it. */
@Tag("programs")
class NoticeBoardTest {

    private static final WatchdogRules RULES = WatchdogRules.DEFAULT;
    private static final GpuIdentity GPU = NodeFixture.identity(0);

    @TempDir
    Path folder;

    private Process process;
    private ProcessKey key;
    private final GpuWatchdog watchdog =
            new GpuWatchdog(RULES.pressure(), RULES.recycle(), new RecycleHistory(RULES.recycle()));
    private long nanos = Duration.ofHours(1).toNanos();
    private long sequence;

    @BeforeEach
    void start() throws IOException {
        process = new ProcessBuilder(
                        "/bin/sh",
                        "-c",
                        "trap 'echo signal' USR1; trap 'echo end; exit' TERM; echo ready; while :; do sleep 0.05; done")
                .start();
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
        String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        key = new ProcessKey((int) process.pid(), Long.parseLong(fields[19]));
    }

    @AfterEach
    void end() {
        process.destroyForcibly();
    }

    private Path file() {
        return folder.resolve("records");
    }

    private DecisionLog log() {
        DecisionRecord.Origin origin = new DecisionRecord.Origin("node", "boot-1", "armed");
        return new DecisionLog(file(), 1 << 20, origin, RULES, Clock.systemUTC());
    }

    private NoticeBoard board(boolean armed, DecisionLog log) {
        ProcessSet processes = new ProcessSet(
                () -> ServiceLoader.load(ProcessSignals.class).findFirst().orElseThrow(),
                new RunningProcesses(Path.of("/proc")));
        return new NoticeBoard(
                RULES.recycle(),
                armed,
                new Applicants(NodePaths.of(folder, folder, folder), List.of()),
                new NoticeSignals(
                        armed,
                        processes,
                        (gpu, tenant) ->
                                tenant.equals("process:hog") ? Optional.of(NotifySignal.SIGUSR1) : Optional.empty()),
                Optional.of(log),
                Clock.systemUTC());
    }

    /** Decides on readings of this free memory, a quarter of a second apart. */
    private void decide(NoticeBoard board, long freeMib, int readings) {
        Tenant hog = new Tenant(
                "process:hog",
                "hog",
                "process:hog",
                Reading.of(3000L << 20),
                Reading.of(15_060 - freeMib << 20),
                Set.of(key),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
        for (int i = 0; i < readings; i++) {
            nanos += 250_000_000;
            board.decided(
                    GPU,
                    watchdog.decide(new GpuObservation(
                            GPU.selector(),
                            nanos,
                            ++sequence,
                            VramFixture.memory(freeMib),
                            Reading.of(List.of(hog)),
                            nanos)));
        }
    }

    private List<String> output() throws IOException {
        process.toHandle().destroy();
        return process.inputReader().lines().toList();
    }

    private List<ActionRecord> records() {
        List<ActionRecord> actions = new ArrayList<>();
        Records.read(file(), decision -> {}, actions::add, wrong -> {
            throw wrong;
        });
        return actions;
    }

    @Test
    void eachTimeOfPressureHasOneSignalAndOneRecord() throws Exception {
        try (DecisionLog log = log()) {
            NoticeBoard board = board(true, log);
            decide(board, 1000, 20);
            assertThat(process.inputReader().readLine()).isEqualTo("signal");
            decide(board, 14_000, 200);
            decide(board, 1000, 20);
            assertThat(process.inputReader().readLine()).isEqualTo("signal");
        }
        assertThat(output()).containsExactly("end");
        assertThat(records()).hasSize(2).allSatisfy(record -> {
            assertThat(record.tenant()).isEqualTo("process:hog");
            assertThat(record.actuator()).isEqualTo("notify");
            assertThat(record.accepted()).isTrue();
            assertThat(record.text()).isEqualTo("SIGUSR1 to 1 of 1 processes");
        });
    }

    @Test
    void aDryRunSendsNone() throws Exception {
        try (DecisionLog log = log()) {
            decide(board(false, log), 1000, 20);
        }
        assertThat(output()).containsExactly("end");
        assertThat(records())
                .singleElement()
                .satisfies(record -> assertThat(record.text()).isEqualTo("SIGUSR1 was not sent (dry run)"));
    }

    @Test
    void aLaterProcessWithTheSameNumberGetsNone() throws Exception {
        key = new ProcessKey(key.pid(), key.startTicks() - 1);
        try (DecisionLog log = log()) {
            decide(board(true, log), 1000, 20);
        }
        assertThat(output()).containsExactly("end");
    }

    @Test
    void aTenantThatFlapsGetsThreeNoticesInTenMinutes() throws Exception {
        try (DecisionLog log = log()) {
            NoticeBoard board = board(true, log);
            for (int i = 0; i < 10; i++) {
                decide(board, 1000, 20);
                decide(board, 14_000, 400);
            }
        }
        assertThat(records()).hasSize(3);
    }
}
