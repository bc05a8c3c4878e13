package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.repair.RebootOptions.Reboot;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The reboot by a program of the user, with the evidence before it. The collector is a program that fails. */
@Tag("programs")
class RebootRunTest {

    private static final String GPU = "GPU-5a196066-fd1b-446e-b920-f64089942995";

    @TempDir
    Path folder;

    private RepairAttempt reboot(String script, Duration longest, BooleanSupplier wanted) throws Exception {
        return reboot(script, longest, Duration.ofMillis(1), wanted);
    }

    /** @return the attempt after the request */
    private RepairAttempt reboot(String script, Duration longest, Duration collection, BooleanSupplier wanted)
            throws Exception {
        Path program = Files.writeString(folder.resolve("power-cycle"), script);
        // No folder can be made below a file.
        EvidenceRun evidence = new EvidenceRun(
                RepairProcess.child, List::of, program.resolve("bundles"), collection, ProgramRunner.PROCESSES);
        RepairLog log = RepairLog.open(folder.resolve("repairs.jsonl"), Clock.systemUTC());
        RepairAttempt attempt = log.begin(Kind.REBOOT, Set.of(GPU), "xid 79", "boot");
        RepairSteps.Server server = new RepairSteps.Server(
                new ResetRun(RepairProcess.child, Duration.ZERO, List::of, Optional.empty(), ProgramRunner.PROCESSES),
                new RebootRun(List.of("/bin/sh", program.toString()), longest, evidence, ProgramRunner.PROCESSES),
                () -> {},
                new SystemUnits(List.of(), ProgramRunner.PROCESSES),
                Optional.empty(),
                Duration.ZERO,
                Optional.empty(),
                Optional.empty(),
                RepairSteps::sleep);
        UnitSteps units = new UnitSteps(server.units(), log, line -> {});
        new RepairSteps(server, units, log, any -> Optional.empty(), line -> {}).run(attempt, look(wanted));
        return RepairLog.read(folder.resolve("repairs.jsonl")).get(0);
    }

    private static RepairSteps.Look look(BooleanSupplier wanted) {
        return new RepairSteps.Look() {
            @Override
            public Optional<String> gone() {
                return wanted.getAsBoolean() ? Optional.empty() : Optional.of("over");
            }

            @Override
            public Optional<String> used() {
                return Optional.empty();
            }

            @Override
            public boolean lasts() {
                return true;
            }
        };
    }

    @Test
    void missingEvidenceStopsNoRebootAndIsNamed() throws Exception {
        RepairAttempt open =
                reboot("touch $0.done; echo in 5 s >&2", Duration.ofSeconds(10), Duration.ofSeconds(30), () -> true);
        assertThat(folder.resolve("power-cycle.done")).exists();
        assertThat(open.end()).as("the next boot ends it").isEmpty();
        assertThat(open.steps()).extracting(Step::name).containsExactly("evidence", "reboot", "reboot");
        assertThat(open.steps().get(0).done()).isFalse();
        assertThat(open.steps().get(0).detail()).startsWith("no evidence was kept in " + folder);
        assertThat(open.steps().get(2).detail()).endsWith("power-cycle ended with code 0: in 5 s");
    }

    @Test
    void exitCodeOfTheProgramIsAFailure() throws Exception {
        RepairAttempt failed = reboot("echo no route >&2; exit 255", Duration.ofSeconds(10), () -> true);
        assertThat(failed.ended(Outcome.FAILED)).isTrue();
        assertThat(failed.end().orElseThrow().detail())
                .contains(
                        "power-cycle ended with code 255: no route; no evidence was kept by gpuwarden bundle: it did not end within 1ms");
    }

    /** A shutdown sends SIGTERM to the programs of the daemon's unit. */
    @ParameterizedTest
    @CsvSource({"kill $$, ended with code 143", "kill -9 $$, it was killed", "sleep 60, it did not end within 1s"})
    void programThatIsEndedMayHaveRequestedTheReboot(String script, String end) throws Exception {
        RepairAttempt open = reboot(script, Duration.ofSeconds(1), () -> true);
        assertThat(open.end()).isEmpty();
        assertThat(open.steps().get(2).detail()).contains(end);
    }

    @Test
    void faultThatEndsDuringTheEvidenceNeedsNoReboot() throws Exception {
        int[] calls = {0};
        RepairAttempt held = reboot("touch $0.done", Duration.ofSeconds(10), () -> calls[0]++ == 0);
        assertThat(held.ended(Outcome.HELD)).isTrue();
        assertThat(folder.resolve("power-cycle.done")).doesNotExist();
    }

    @Test
    void unitThatCollectsIsBoundedBySystemdToo() {
        List<String> command = new EvidenceRun(
                        RepairProcess.unit,
                        () -> List.of("--path.sysfs=/x"),
                        Path.of("/var/lib/gpuwarden/bundles"),
                        EvidenceRun.LONGEST,
                        ProgramRunner.PROCESSES)
                .command("2026-06-01T00:00:00.5Z", Map.of("GPUWARDEN_PATH_PROCFS", "/p", "SECRET", "x"));
        assertThat(command)
                .startsWith("systemd-run")
                .containsSubsequence(
                        "--unit=gpuwarden-bundle",
                        "--property=RuntimeMaxSec=150",
                        "--setenv=GPUWARDEN_PATH_PROCFS=/p",
                        "bundle",
                        "/var/lib/gpuwarden/bundles",
                        "--name=reboot-2026-06-01t00-00-00-5z",
                        "--path.sysfs=/x")
                .noneMatch(word -> word.contains("SECRET"));
    }

    @Test
    void evidenceNamesItsPlaceOrTheCauseOfItsAbsence() {
        assertThat(EvidenceRun.evidence(0, "evidence in /b.zip\n", ""))
                .isEqualTo(new EvidenceRun.Evidence(true, "evidence in /b.zip"));
        assertThat(EvidenceRun.evidence(1, "no evidence was kept in /b: no room\n", ""))
                .isEqualTo(new EvidenceRun.Evidence(false, "no evidence was kept in /b: no room"));
        assertThat(EvidenceRun.evidence(137, "", "Killed\n").text())
                .isEqualTo("no evidence was kept by gpuwarden bundle: it ended with code 137: Killed");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sh | idle | expected the absolute path of a program that may be run, seen 'sh'",
                "/bin/sh | never | expected --repair.reboot=idle or always with it, seen never",
            })
    void wrongSettingIsNamed(String program, Reboot when, String error) {
        RebootOptions options = new RebootOptions();
        options.words = List.of(program);
        options.when = when;
        assertThatThrownBy(options::validate).isInstanceOf(UserError.class).hasMessageContaining(error);
    }
}
