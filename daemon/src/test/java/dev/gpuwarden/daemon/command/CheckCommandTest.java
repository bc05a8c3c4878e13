package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command as a user runs it, against simulated drivers. */
class CheckCommandTest {

    @ParameterizedTest
    @CsvSource({
        "t4, gpu-state, 0",
        "gpu-lost, gpu-state, 1",
        "gpu-lost, driver, 0",
        "recovery-action, gpu-recovery-action, 1",
        "driver-470, gpu-recovery-action, 3",
        "no-driver, driver, 1",
        "no-driver, gpu-state, 3",
        "liar, gpu-readings, 0",
        "t4, all, 0",
        "gpu-lost, all, 1",
    })
    void exitCodeIsTheOutcome(String scenario, String name, int exitCode) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Program check = Program.run(node, "check", name);
            // Loads on GPUs may take seconds, and then report their progress.
            assertThat(check.err().lines()).allMatch(line -> line.contains(" checks ended"));
            assertThat(check.exitCode()).as(check.out()).isEqualTo(exitCode);
        }
    }

    /** Seven of eight GPUs have tenants, so nothing was computed on them. */
    @Test
    void aNodeOfWhichGpusAreInUseIsNotCalledFit(@TempDir Path folder) throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            Path page = folder.resolve("node.html");
            Program check = Program.run(node, "check", "all", "--report=" + page);
            assertThat(check.exitCode()).as(check.out()).isEqualTo(3);
            assertThat(check.out())
                    .contains(
                            "measured: 1 of 8 GPUs",
                            "  not measured: GPU 0, 1, 2, 3: the GPU is not free, held by process ",
                            "verdict: INCOMPLETE (measured: 1 of 8 GPUs); free the GPUs and run it again, or --allow-partial")
                    .doesNotContain("verdict: fit");
            assertThat(page).content().contains(": incomplete, measured 1 of 8 GPUs</title>", "not measured: GPU 5: ");
            Program partial = Program.run(node, "check", "gpumem", "--allow-partial", "-o", "json");
            assertThat(partial.exitCode()).isZero();
            assertThat(partial.out()).contains("\"verdict\": \"fit\"", "\"scope\": \"checks\"", "\"complete\": false");
        }
    }

    @Test
    void aCheckIsNoVerdictOnTheNode() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            assertThat(Program.run(node, "check", "gpu-state").out())
                    .endsWith("gpu-state: passed (this is not the verdict of the node: gpuwarden scan)\n");
        }
    }

    @Test
    void showsResultsAndComplaints() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("gpu-lost")) {
            String table = Program.run(node, "check", "driver", "gpu-state", "gpu-readings")
                    .out()
                    .replaceAll("[0-9.]+ ms", "0.0 ms");
            Golden.check("check/gpu-lost.txt", table);
        }
    }

    @Test
    void jsonIsStableAndTheReportIsTheSame(@TempDir Path folder) throws IOException {
        try (SimulatedNode node = SimulatedNode.start("recovery-action")) {
            Path file = folder.resolve("report.json");
            Program check =
                    Program.run(node, "check", "driver", "gpu-recovery-action", "-o", "json", "--report=" + file);
            String stable = check.out()
                    .replaceAll("\"at\": \"[^\"]*\"", "\"at\": \"...\"")
                    .replaceAll("\"tookSeconds\": [0-9.E-]+", "\"tookSeconds\": 0");
            Golden.check("check/recovery-action.json", stable);
            assertThat(file).hasContent(check.out());
        }
    }

    @Test
    void listShowsDisabledChecksAndIntervals() {
        Program list = Program.run(
                "check",
                "--list",
                "--check.disable=gpu-readings",
                "--check.interval=gpu-state=1m30s",
                "--check.invasive-interval=6h");
        assertThat(list.exitCode()).isZero();
        assertThat(list.out())
                .containsPattern("(?m)^gpu-readings +GPU +off ")
                .containsPattern("(?m)^gpu-state +GPU +1m30s ")
                .containsPattern("(?m)^gpumem +GPU +6h ")
                .containsPattern("(?m)^driver +NODE +15s ");
        assertThat(Program.run("check", "--list", "-o", "json").out())
                .contains("\"schema\": \"gpuwarden.checks/v1\"", "\"check\": \"driver\"", "\"off\": false");
    }

    @Test
    void namedCheckRunsEvenIfDisabledAndAllOmitsIt() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            assertThat(Program.run(node, "check", "driver", "--check.disable=driver")
                            .out())
                    .containsPattern("driver +PASS");
            assertThat(Program.run(node, "check", "all", "--check.disable=driver")
                            .out())
                    .doesNotContainPattern("driver +PASS");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "gpu-sate, 'unknown check ''gpu-sate'', did you mean gpu-state?'",
        "xyzzyxyzzy, '''gpuwarden check --list'' shows all checks'",
        "--check.disable=drivr, '--check.disable: unknown check ''drivr'', did you mean driver?'",
        "--check.only=drivr, '--check.only: unknown check ''drivr'''",
        "--check.interval=drivr=3s, '--check.interval: unknown check ''drivr'''",
        "--check.interval=driver, 'expected ID=DURATION'",
        "--check.interval=driver=soon, '''soon'' is not a duration'",
        "--check.interval=driver=1ms, 'expected 1s to 1d'",
        "--check.deadline=1ms, 'expected at least 1s, found 1ms'",
        "--check.load=heavy, 'expected none, light or invasive'",
        "--check.periodic-interval=30s, 'expected 1m to 30d, found 30s'",
        "--check.invasive-interval=5, '5'' is not a duration'",
        "--check.invasive-interval=31d, 'expected 10m to 30d, found 31d'",
        "--check.periodic-busy=never, 'off, on'",
        "--expect.gpus=-1, 'must not be negative'",
    })
    void mistypedNamesAreReported(String argument, String output) {
        Program check =
                argument.startsWith("-") ? Program.run("check", "all", argument) : Program.run("check", argument);
        assertThat(check.exitCode()).isEqualTo(2);
        assertThat(check.out()).isEmpty();
        assertThat(check.err()).contains(output);
    }

    @Test
    void missingNameIsAUsageError() {
        Program check = Program.run("check");
        assertThat(check.exitCode()).isEqualTo(2);
        assertThat(check.err()).contains("name the checks to run, or 'all'");
    }

    @Test
    void unwritableReportIsAnError() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            Program check = Program.run(node, "check", "driver", "--report=/nonexistent/report.json");
            assertThat(check.exitCode()).isEqualTo(2);
            assertThat(check.err()).contains("/nonexistent/report.json could not be written");
            assertThat(Files.exists(Path.of("/nonexistent"))).isFalse();
        }
    }
}
