package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.ResetRun.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("programs")
class HookRunTest {

    private static final String GPU = "GPU-5a196066-fd1b-446e-b920-f64089942995";

    private static final RepairAttempt ATTEMPT = new RepairAttempt(
            "2026-06-01T00:00:00Z",
            Kind.HOOK,
            Set.of(GPU),
            "xid 95",
            Instant.parse("2026-06-01T00:00:00Z"),
            "boot",
            List.of(),
            Optional.empty());

    @TempDir
    Path folder;

    private static HealthEvent event(String message) {
        return HealthEvent.of("agent", "GPU", "xid")
                .nodeName("server")
                .errorCodes(List.of("95"))
                .message(message)
                .action(RecommendedAction.CONTACT_SUPPORT)
                .entities(List.of(Entity.gpu(GPU)))
                .build();
    }

    private Result run(String script, String message, Duration longest) throws Exception {
        Path program = Files.writeString(folder.resolve("hook"), script);
        return new HookRun(
                        List.of("/bin/sh", program.toString(), folder.toString()),
                        longest,
                        false,
                        ProgramRunner.PROCESSES)
                .run(ATTEMPT, event(message));
    }

    @Test
    void programReceivesTheFaultAsData() throws Exception {
        String message = "'; touch " + folder.resolve("injected") + "; \"$(id)\" `id`\n${HOME}" + "m".repeat(5000);
        Result result = run("printf %s \"$FAULT\" >$1/fault; echo ticket 7", message, Duration.ofSeconds(10));
        assertThat(result.outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(result.detail()).contains("ended with code 0", "it wrote: ticket 7");
        assertThat(folder.resolve("injected")).doesNotExist();
        var fault = JsonReader.ofDepth(8).readObject(Files.readString(folder.resolve("fault")));
        assertThat(fault)
                .containsEntry("node", "server")
                .containsEntry("action", "CONTACT_SUPPORT")
                .containsEntry("checkName", "xid")
                .containsEntry("gpus", List.of(GPU));
        assertThat(fault.get("message").toString())
                .startsWith(message.substring(0, 200))
                .hasSize(1024);
    }

    @Test
    void failureAndDelayAreFailures() throws Exception {
        Result failed = run("echo no queue >&2; exit 3", "m", Duration.ofSeconds(10));
        assertThat(failed.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(failed.detail()).contains("ended with code 3: no queue");
        Result late = run("sleep 60", "m", Duration.ofMillis(300));
        assertThat(late.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(late.detail()).contains("did not end within");
        Result loud = run("head -c 60000 /dev/zero | tr '\\0' x", "m", Duration.ofSeconds(10));
        assertThat(loud.detail()).hasSize(1000);
    }

    @Test
    void endOfTheDaemonInTheMiddleIsNotTriedAgain() {
        assertThat(RepairSteps.interrupted(ATTEMPT, "why").outcome()).isEqualTo(Outcome.HELD);
        RepairAttempt begun = ATTEMPT.with(new RepairAttempt.Step(
                RepairAttempt.BEGIN_HOOK, "", true, "", Duration.ZERO, Instant.parse("2026-06-01T00:00:00Z")));
        assertThat(RepairSteps.interrupted(begun, "why")).isEqualTo(new Result(Outcome.FAILED, "why"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sh | CONTACT_SUPPORT | expected the absolute path of a program that may be run, seen 'sh'",
                "/ | CONTACT_SUPPORT | expected the absolute path of a program that may be run, seen '/'",
                "/bin/sh | NONE | --repair.hook-actions: expected one of COMPONENT_RESET, CONTACT_SUPPORT,",
                "/bin/sh | | expected both or none, seen one of them",
            })
    void wrongSettingIsNamed(String program, String action, String error) {
        HookOptions options = new HookOptions();
        options.words = List.of(program);
        options.actions = action == null ? List.of() : List.of(action);
        assertThatThrownBy(options::validate).isInstanceOf(UserError.class).hasMessageContaining(error);
    }
}
