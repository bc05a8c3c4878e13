package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RepairLogTest {

    private static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void begin() {
        file = folder.resolve("repairs.jsonl");
    }

    private RepairLog open(Instant now) throws IOException {
        return RepairLog.open(file, Clock.fixed(now, ZoneOffset.UTC));
    }

    private static Step step(String name, String target, boolean done) {
        return new Step(name, target, done, "detail \"of\" it", Duration.ofMillis(7), NOW);
    }

    private static RepairAttempt repaired(RepairLog log) throws IOException {
        RepairAttempt attempt = log.begin(Kind.RESET, Set.of("GPU-a"), "xid 48", "boot");
        log.step(attempt, step(RepairAttempt.STOP, "llama.service", true));
        log.step(attempt, step(RepairAttempt.RESET, "", true));
        return attempt;
    }

    @Test
    void theNextDaemonReadsWhatTheLastOneWrote() throws IOException {
        RepairLog log = open(NOW);
        RepairAttempt attempt = repaired(log);
        RepairLog next = open(NOW);
        assertThat(next.attempts()).isEqualTo(log.attempts());
        assertThat(next.unfinished().orElseThrow().stoppedUnits()).containsExactly("llama.service");
        next.step(attempt, step(RepairAttempt.START, "llama.service", true));
        next.end(attempt, Outcome.SUCCEEDED, "1 passed");
        RepairLog last = open(NOW);
        assertThat(last.unfinished()).isEmpty();
        assertThat(last.attempts().get(0).ended(Outcome.SUCCEEDED)).isTrue();
        assertThat(last.attempts().get(0).stoppedUnits()).isEmpty();
    }

    @Test
    void aLineThatWasCutOffIsRemovedAndAnotherIsSkippedAloud() throws IOException {
        repaired(open(NOW));
        long whole = Files.size(file);
        Files.writeString(file, "{\"at\":\"2026-06", StandardOpenOption.APPEND);
        assertThat(open(NOW).attempts()).hasSize(1);
        assertThat(file).hasSize(whole);
        Files.writeString(file, "nonsense\n", StandardOpenOption.APPEND);
        RepairAttempt attempt = open(NOW).attempts().get(0);
        assertThat(attempt.steps()).hasSize(3);
        assertThat(attempt.last(RepairAttempt.UNREADABLE).orElseThrow().detail())
                .isEqualTo("nonsense");
    }

    /** Earlier versions appended to a line that a full disk had cut. */
    @Test
    void aLineThatWasJoinedToACutOneIsKept() throws IOException {
        RepairAttempt attempt = repaired(open(NOW));
        String text = Files.readString(file);
        String line = text.lines().skip(1).findFirst().orElseThrow();
        for (int cut = 1; cut <= line.length(); cut++) {
            Files.writeString(file, text.replace(line, line.substring(0, cut) + line));
            List<RepairAttempt> read = RepairLog.read(file);
            assertThat(read).as("cut after %s", cut).singleElement().satisfies(each -> {
                assertThat(each.stoppedUnits()).containsExactly("llama.service");
                assertThat(each.isResetting()).isFalse();
            });
        }
        assertThat(attempt.end()).isEmpty();
    }

    @Test
    void anAttemptWhoseBeginningIsLostIsKnownByItsSteps() throws IOException {
        RepairLog log = open(NOW);
        RepairAttempt attempt = log.begin(Kind.REBOOT, Set.of("GPU-a"), "xid 79", "boot");
        log.intend(attempt, RepairAttempt.STOP, "llama.service", "requested");
        log.intend(attempt, RepairAttempt.REBOOT, "", "requested");
        Files.writeString(file, Files.readString(file).replaceFirst("\"event\"", "#"));
        RepairAttempt read = open(NOW).unfinished().orElseThrow();
        assertThat(read.kind()).isEqualTo(Kind.REBOOT);
        assertThat(read.began()).isEqualTo(attempt.began());
        assertThat(read.stoppedUnits()).containsExactly("llama.service");
        assertThat(read.done(RepairAttempt.REBOOT)).isPresent();
        assertThat(read.last(RepairAttempt.UNREADABLE)).isPresent();
    }

    @Test
    void anActionThatThisVersionLacksIsNamed() {
        assertThatThrownBy(
                        () -> RepairRecord.read(
                                List.of(
                                        "{\"at\":\"2026-06-01T00:00:00Z\",\"id\":\"1\","
                                                + "\"event\":\"begin\",\"kind\":\"power-cycle\",\"subjects\":[],\"why\":\"\",\"bootId\":\"b\"}")))
                .hasMessage("line 1: expected kind reset or reboot or hook, seen power-cycle");
    }

    @Test
    void aDrainLastsUntilItsNodeIsResumed() throws IOException {
        RepairLog log = open(NOW);
        RepairAttempt attempt = repaired(log);
        assertThat(log.drained()).isFalse();
        log.step(attempt, step(RepairAttempt.DRAIN, "gpu-1", true));
        log.end(attempt, Outcome.SUCCEEDED, "");
        assertThat(open(NOW).drained()).isTrue();
        log.step(attempt, step(RepairAttempt.RESUME, "gpu-1", false));
        assertThat(log.drained()).isTrue();
        log.step(attempt, step(RepairAttempt.RESUME, "gpu-1", true));
        assertThat(open(NOW).drained()).isFalse();
    }

    @Test
    void aLongFileLosesWhatNoDecisionNeeds() throws IOException {
        RepairLog log = open(NOW);
        RepairAttempt old = repaired(log);
        log.step(old, new Step(RepairAttempt.RESET, "", true, "x".repeat(1 << 20), Duration.ZERO, NOW));
        log.end(old, Outcome.SUCCEEDED, "");
        RepairLog next = open(NOW.plus(RepairRules.MEMORY).plusSeconds(1));
        next.begin(Kind.REBOOT, Set.of("GPU-a"), "xid 79", "boot");
        assertThat(Files.size(file)).isLessThan(1000);
        assertThat(open(NOW).attempts()).singleElement().matches(attempt -> attempt.kind() == Kind.REBOOT);
    }
}
