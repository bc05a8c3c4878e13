package dev.gpuwarden.checks.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.verify.Verification.Repair;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoadAttemptsTest {

    private static final Instant NOW = Instant.parse("2026-11-26T12:00:00Z");
    private static final Entity GPU = Entity.gpu("GPU-455d8f70-2051-db6c-0430-ffc457bff834");
    private static final Subject PART = new Subject("GPU 3", List.of(GPU));
    private static final CheckInfo RESULTS = CheckInfo.of("gpu-results", "GPU", "");
    private static final CheckInfo MEMORY = CheckInfo.of("gpumem", "GPU", "");
    private static final List<CheckInfo> CHECKS = List.of(RESULTS, MEMORY);

    private static final HealthEvent PENDING = Verification.after(
                    Repair.BOOT,
                    List.of(HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                            .nodeName("gpu-7")
                            .fatal(true)
                            .action(RecommendedAction.RESTART_BM)
                            .errorCodes(List.of("79"))
                            .entities(List.of(GPU))
                            .generated(NOW)
                            .build()),
                    NOW)
            .get(0);

    private final LoadAttempts attempts = new LoadAttempts();

    private Set<String> due(Duration at) {
        return attempts.due(CHECKS, at.toNanos());
    }

    private void ended(Duration at, CheckInfo check, Finding finding) {
        attempts.ended(PENDING, List.of(CheckResult.of(check, NOW, Duration.ZERO, List.of(finding))), at.toNanos());
    }

    @Test
    void refusalBeforeAnyWorkHasNoPauseAlsoBesideACheckThatHadWork() {
        assertThat(due(Duration.ZERO)).containsExactlyInAnyOrder("gpu-results", "gpumem");
        ended(Duration.ZERO, RESULTS, Finding.skipped("holder-unknown", PART, "the kubelet did not answer"));
        ended(Duration.ZERO, MEMORY, Finding.fail("wrong", PART, "", "", RecommendedAction.NONE));
        assertThat(due(Duration.ofSeconds(1))).containsExactly("gpu-results");
        ended(Duration.ofSeconds(1), RESULTS, Finding.pass("ok", PART, ""));
        assertThat(due(Duration.ofSeconds(599)))
                .as("a check that passed runs no more")
                .isEmpty();
        assertThat(due(Duration.ofMinutes(10))).containsExactly("gpumem");
    }

    @Test
    void runWithoutAFindingOfThePartHasProvenNothing() {
        attempts.ended(PENDING, List.of(CheckResult.of(MEMORY, NOW, Duration.ZERO, List.of())), 0);
        assertThat(due(Duration.ofSeconds(14))).containsExactly("gpu-results");
        assertThat(Verification.verdict(PENDING, List.of(MEMORY), attempts.results())
                        .open())
                .containsExactly("gpumem (no-result)");
    }

    /** A proof that is no fault yet must not hide that the rest of the run is missing. */
    @Test
    void runThatHungBehindAWarningHasNotPassed() {
        Finding once = Finding.warn("wrong-result-once", PART, "", "");
        Finding hung = Finding.unknown("check-hung", Subject.NODE, "", "");
        attempts.ended(PENDING, List.of(CheckResult.of(MEMORY, NOW, Duration.ZERO, List.of(once, hung))), 0);
        assertThat(Verification.verdict(PENDING, List.of(MEMORY), attempts.results())
                        .open())
                .containsExactly("gpumem (check-hung)");
    }

    @Test
    void newCauseOfAPartDropsWhatItPassedBefore() {
        HealthEvent second = PENDING.toBuilder().generated(NOW.plusSeconds(60)).build();
        HealthEvent other = second.toBuilder()
                .entities(List.of(Entity.gpu("GPU-00000000-0000-0000-0000-000000000000")))
                .build();
        PartAttempts parts = new PartAttempts();
        parts.pending(Set.of(PENDING));
        CheckResult passed = CheckResult.of(MEMORY, NOW, Duration.ZERO, List.of(Finding.pass("ok", PART, "")));
        parts.of(PENDING).ended(PENDING, List.of(passed), 0);
        parts.pending(Set.of(PENDING, other));
        assertThat(parts.of(PENDING).results()).containsExactly(passed);
        parts.pending(Set.of(second, other));
        assertThat(parts.of(second).results()).isEmpty();
    }

    @Test
    void runWithoutADecisionIsRepeatedWithinSecondsAndThenLessOften() {
        ended(Duration.ZERO, RESULTS, Finding.pass("ok", PART, ""));
        Duration now = Duration.ZERO;
        for (long seconds : new long[] {15, 30, 60, 120, 240, 480, 600, 600}) {
            ended(now, MEMORY, Finding.unknown("not-measured", PART, "busy", ""));
            assertThat(due(now.plusSeconds(seconds).minusMillis(1)))
                    .as(seconds + " s")
                    .isEmpty();
            now = now.plusSeconds(seconds);
            assertThat(due(now)).containsExactly("gpumem");
        }
        ended(now, MEMORY, Finding.skipped("gpu-held", PART, ""));
        ended(now, MEMORY, Finding.unknown("not-measured", PART, "busy", ""));
        assertThat(due(now.plusSeconds(15))).as("the first in a row again").containsExactly("gpumem");
    }
}
