package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResetRunTest {

    private static final Map<String, String> ENVIRONMENT =
            Map.of("GPUWARDEN_PATH_SYSFS", "/host/sys", "PATH", "/bin", "SECRET", "x");

    private static String report(boolean success, String step, boolean done) {
        return "{\"success\": " + success + ", \"steps\": [{\"name\": \"" + step + "\", \"done\": " + done
                + ", \"detail\": \"seen\"}]}";
    }

    @Test
    void aChildGetsTheSettingsOfTheDaemon() {
        List<String> command = new ResetRun(
                        RepairProcess.child,
                        Duration.ofSeconds(30),
                        () -> List.of("--path.sysfs=/x"),
                        Optional.of(Path.of("/var/b")),
                        ProgramRunner.PROCESSES)
                .command(List.of("GPU-b", "GPU-a"), ENVIRONMENT);
        assertThat(command)
                .containsSubsequence(
                        "gpu-reset",
                        "GPU-a",
                        "GPU-b",
                        "--arm",
                        "--output=json",
                        "--patience=30s",
                        "--path.sysfs=/x",
                        "--reset.bundle=/var/b")
                .doesNotContain("systemd-run");
    }

    @Test
    void aUnitGetsTheDaemonsVariablesAndNoOthers() {
        List<String> command = new ResetRun(
                        RepairProcess.unit, Duration.ofSeconds(30), List::of, Optional.empty(), ProgramRunner.PROCESSES)
                .command(List.of("GPU-a"), ENVIRONMENT);
        assertThat(command).startsWith("systemd-run").contains("--wait", "--unit=gpuwarden-gpu-reset");
        assertThat(command.stream().filter(word -> word.startsWith("--setenv=")))
                .containsExactly("--setenv=GPUWARDEN_PATH_SYSFS=/host/sys");
    }

    @ParameterizedTest
    @CsvSource({
        "0, true, verify, true, SUCCEEDED",
        "1, false, release, false, HELD",
        "1, false, unused, false, HELD",
        "1, false, persistence-off, false, FAILED",
        "1, false, reset, false, FAILED",
        "1, false, verify, false, FAILED",
        "1, false, refused, false, HELD",
        "1, false, proof, false, HELD",
        "0, false, reset, false, FAILED",
        "1, true, verify, true, HELD",
    })
    void onlyAStepThatJudgedTheGpuFailsIt(int code, boolean success, String step, boolean done, Outcome outcome) {
        ResetRun.Result result = ResetRun.result(code, report(success, step, done), "");
        assertThat(result.outcome()).isEqualTo(outcome);
    }

    @Test
    void theResultOfAFailureNamesItsEvidence() {
        String report = report(false, "reset", false).replaceFirst("\\{", "{\"evidence\": \"evidence in /b.zip\", ");
        assertThat(ResetRun.result(1, report, "").detail()).isEqualTo("step reset: seen; evidence in /b.zip");
    }

    @ParameterizedTest
    @CsvSource({
        "137, '', Killed",
        "2, '', not on this node",
        "127, '', systemd-run: not found",
        "0, {, ''",
        "0, [], ''",
        "0, {}, ''"
    })
    void aRunWithoutAVerdictFailsNoGpu(int code, String out, String err) {
        ResetRun.Result result = ResetRun.result(code, out, err + "\n");
        assertThat(result.outcome()).isEqualTo(Outcome.HELD);
        assertThat(result.detail())
                .startsWith("gpu-reset ended with code " + code)
                .contains(err, "(no verdict on the GPU)");
        RepairAttempt.Step recorded =
                new RepairAttempt.Step(RepairAttempt.RESET, "", false, result.detail(), Duration.ZERO, Instant.EPOCH);
        assertThat(ResetRun.recorded(recorded).outcome()).isEqualTo(Outcome.HELD);
    }
}
