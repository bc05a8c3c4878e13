package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damper;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults of real results that a real damper makes. */
class FaultEvidenceTest {

    private static final CheckInfo CHECK = CheckInfo.of("gpu-state", "GPU", "Each GPU answers.");
    private static final Subject PART = Subject.of(Entity.gpu("GPU-a"));
    private static final Instant START = Instant.parse("2026-06-01T00:00:00Z");

    private final Damper damper = new Damper();
    private final FaultTable faults = new FaultTable();
    private CheckResult last = CheckResult.of(CHECK, START, Duration.ZERO, List.of());
    private int runs;

    private void run(char outcome) {
        Instant at = START.plus(CHECK.every().multipliedBy(runs++));
        List<Finding> findings = switch (outcome) {
            case 'F' -> List.of(Finding.fail("gpu-hung", PART, "", "", RecommendedAction.RESTART_BM));
            case 'P' -> List.of(Finding.pass("ok", PART, ""));
            case 'U' -> List.of(Finding.unknown("deadline", PART, "", ""));
            case 'S' -> List.of(Finding.skipped("gpu-held", PART, ""));
            default -> List.of();
        };
        last = CheckResult.of(CHECK, at, Duration.ZERO, findings);
        damper.look(last).forEach(change -> faults.apply(FindingEvents.of(change, "node"), runs, at));
    }

    private Optional<String> against(Optional<Instant> since) {
        return new FaultEvidence(damper.damping(), List.of(last))
                .against(faults.faults().get(0), since);
    }

    /** @param results F fail, P pass, U unknown, S skipped, a dash for no finding; the last one is the reading now */
    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "FF, -",
                "FFS, -",
                "FFU, gpu-state cannot decide now",
                "FF., gpu-state cannot decide now",
                "FFP, recovering",
                "FFPU, recovering",
                "FFPS, recovering",
                "FFPF, -",
                "FFPPFFPPFFPPFFPP, held",
                "FFPPFFPPFFPPFFPPU, held",
            })
    void aFaultIsAReasonOnlyWhileItsLastReadingIsBad(String results, String why) {
        results.chars().forEach(each -> run((char) each));
        assertThat(faults.faults()).hasSize(1);
        assertThat(against(Optional.empty()).map(text -> text.startsWith(why == null ? "?" : why)))
                .isEqualTo(Optional.ofNullable(why).map(any -> true));
    }

    @Test
    void aReadingBeforeTheLastRepairProvesNothing() {
        run('F');
        run('F');
        assertThat(against(Optional.of(last.at()))).isEmpty();
        assertThat(against(Optional.of(last.at().plusMillis(1))))
                .contains("gpu-state has not run since the last repair");
    }

    @Test
    void aFaultWithoutReadingsLastsUntilItsSourceEndsIt() {
        HealthEvent xid = HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .fatal(true)
                .errorCodes(List.of("79"))
                .entities(PART.entities())
                .build();
        faults.apply(xid, 1, START);
        last = CheckResult.of(CHECK, START, Duration.ZERO, List.of(Finding.pass("ok", PART, "")));
        assertThat(against(Optional.of(START))).isEmpty();
    }
}
