package dev.gpuwarden.daemon.vram.action;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.process.RunningProcesses;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.daemon.vram.action.Actuator.Outcome;
import dev.gpuwarden.daemon.vram.action.Actuator.Recheck;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Signals to real processes. */
@Tag("programs")
class SignalActuatorTest {

    private static final int TERMINATED = 128 + 15;
    private static final int KILLED = 128 + 9;

    private final SignalActuator actuator = new SignalActuator(
            "process:",
            new ProcessSet(
                    () -> ServiceLoader.load(ProcessSignals.class).findFirst().orElseThrow(),
                    new RunningProcesses(Path.of("/proc"))),
            Duration.ofMillis(300));
    private Optional<Process> started = Optional.empty();

    @AfterEach
    void end() {
        started.ifPresent(Process::destroyForcibly);
    }

    private Process start(String script) throws IOException {
        Process process =
                new ProcessBuilder("/bin/sh", "-c", script + "; echo ready; while :; do sleep 0.05; done").start();
        started = Optional.of(process);
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
        return process;
    }

    private static long startTicks(Process process) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
        return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19]);
    }

    private Outcome recycle(ProcessKey process) {
        return recycle(process, Optional::empty);
    }

    private Outcome recycle(ProcessKey process, Recheck recheck) {
        Tenant tenant = new Tenant(
                "process:sh",
                "sh",
                "process:sh",
                Reading.of(1L),
                Reading.of(2L),
                Set.of(process),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
        GpuObservation seen =
                new GpuObservation("GPU-1", 1, 1, Reading.absent(Absence.PENDING), Reading.of(List.of(tenant)), 1);
        Decision decision = new Decision(seen, Verdict.RECYCLE, Optional.empty(), List.of(), "", List.of());
        assertThat(actuator.handles(tenant)).isTrue();
        return actuator.recycle(decision, tenant, recheck);
    }

    @Test
    void theProcessEndsByTheFirstSignal() throws Exception {
        Process process = start(":");
        Outcome outcome = recycle(new ProcessKey((int) process.pid(), startTicks(process)));
        assertThat(outcome).isEqualTo(new Outcome(true, "SIGTERM to 1 of 1 processes"));
        assertThat(process.waitFor()).isEqualTo(TERMINATED);
    }

    @Test
    void oneThatIgnoresItIsKilledAfterTheGrace() throws Exception {
        Process process = start("trap '' TERM");
        Outcome outcome = recycle(new ProcessKey((int) process.pid(), startTicks(process)));
        assertThat(outcome).isEqualTo(new Outcome(true, "SIGTERM to 1 of 1 processes, SIGKILL to 1 after 300ms"));
        assertThat(process.waitFor()).isEqualTo(KILLED);
    }

    @Test
    void oneThatGaveItsMemoryBackAndRunsOnIsNotKilled() throws Exception {
        Process process = start("trap '' TERM");
        Outcome outcome = recycle(
                new ProcessKey((int) process.pid(), startTicks(process)), () -> Optional.of("within its budget"));
        assertThat(outcome).isEqualTo(Outcome.enough("SIGTERM to 1 of 1 processes, no SIGKILL: within its budget"));
        assertThat(process.waitFor(300, TimeUnit.MILLISECONDS)).isFalse();
    }

    @Test
    void aLaterProcessWithTheSameNumberGetsNoSignal() throws Exception {
        Process process = start(":");
        Outcome outcome = recycle(new ProcessKey((int) process.pid(), startTicks(process) - 1));
        assertThat(outcome.text()).isEqualTo("SIGTERM to 0 of 1 processes");
        assertThat(process.waitFor(300, TimeUnit.MILLISECONDS)).isFalse();
    }
}
