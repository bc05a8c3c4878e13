package dev.gpuwarden.checks.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.verify.Verification.Repair;
import dev.gpuwarden.checks.verify.Verification.Verdict;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class VerificationTest {

    private static final Instant NOW = Instant.parse("2026-11-26T12:00:00Z");
    private static final Entity GPU = Entity.gpu("GPU-455d8f70-2051-db6c-0430-ffc457bff834");
    private static final Subject AT_FAULT = new Subject("GPU 3", List.of(GPU));
    private static final Subject OTHER = Subject.of(Entity.gpu("GPU-00000000-0000-0000-0000-000000000000"));
    private static final CheckInfo STATE = CheckInfo.of("gpu-state", "GPU", "");
    private static final CheckInfo MEMORY = CheckInfo.of("gpumem", "GPU", "");

    private static final HealthEvent XID = HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
            .nodeName("gpu-7")
            .fatal(true)
            .action(RecommendedAction.RESTART_BM)
            .errorCodes(List.of("79"))
            .entities(List.of(GPU))
            .generated(NOW)
            .build();

    private static HealthEvent pending() {
        return Verification.after(Repair.BOOT, List.of(XID, XID), NOW).get(0);
    }

    private static CheckResult result(CheckInfo check, Finding... findings) {
        return CheckResult.of(check, NOW, Duration.ZERO, Arrays.asList(findings));
    }

    private static Verdict verdict(HealthEvent pending, Finding... memory) {
        return Verification.verdict(
                pending,
                List.of(STATE, MEMORY),
                List.of(result(STATE, Finding.pass("ok", AT_FAULT, "")), result(MEMORY, memory)));
    }

    @Test
    void pendingFaultKeepsThePartFaultyAndRequestsNoAction() {
        List<HealthEvent> events = Verification.after(Repair.BOOT, List.of(XID, XID), NOW);
        assertThat(events).hasSize(1);
        FaultTable table = new FaultTable();
        table.apply(events.get(0), 1, NOW);
        assertThat(table.faults())
                .allMatch(Verification::isPending)
                .singleElement()
                .satisfies(fault -> {
                    assertThat(fault.cause().fatal()).isTrue();
                    assertThat(fault.cause().action()).isEqualTo(RecommendedAction.NONE);
                    assertThat(fault.cause().drain().skip())
                            .as("pods on other GPUs stay")
                            .isTrue();
                    assertThat(fault.cause().message())
                            .isEqualTo("its checks have not passed since the boot that ended SysLogsXIDError 79");
                });
        table.apply(Verification.end(events.get(0), "verified", NOW), 2, NOW);
        assertThat(table.faults()).isEmpty();
    }

    @Test
    void partIsVerifiedWhenItsChecksPassOrDoNotApply() {
        Verdict verdict = verdict(
                pending(),
                Finding.skipped("not-supported", AT_FAULT, ""),
                Finding.fail("wrong-result", OTHER, "", "", RecommendedAction.RUN_FIELDDIAG));
        assertThat(verdict.open()).isEmpty();
        assertThat(verdict.text()).isEqualTo("1 checks passed since the repair; skipped: gpumem (not-supported)");
    }

    @Test
    void failedUnknownBusyAndMissingChecksKeepItOpen() {
        assertThat(verdict(pending(), Finding.fail("wrong-result", AT_FAULT, "", "", RecommendedAction.RUN_FIELDDIAG))
                        .open())
                .containsExactly("gpumem (wrong-result)");
        assertThat(verdict(pending(), Finding.unknown("not-readable", AT_FAULT, "", ""))
                        .open())
                .containsExactly("gpumem (not-readable)");
        assertThat(verdict(pending(), Finding.skipped("gpu-held", AT_FAULT, "")).open())
                .containsExactly("gpumem (gpu-held)");
        assertThat(Verification.verdict(pending(), List.of(STATE, MEMORY), List.of(result(STATE)))
                        .open())
                .containsExactly("gpumem (has not run)");
    }

    @Test
    void checkThatBrokeOffMayHaveMissedAnyPart() {
        for (String code : List.of("check-failed", "check-hung", "too-many-findings")) {
            assertThat(verdict(pending(), Finding.unknown(code, Subject.NODE, "", ""))
                            .open())
                    .containsExactly("gpumem (" + code + ")");
        }
        assertThat(verdict(pending(), Finding.unknown("script-broken", Subject.NODE, "", ""))
                        .open())
                .as("a finding of the node alone")
                .isEmpty();
    }

    @Test
    void faultOfTheNodeHasTheVerdictOfTheNodesOwnFindings() {
        HealthEvent node = Verification.after(
                        Repair.BOOT, List.of(XID.toBuilder().entities(List.of()).build()), NOW)
                .get(0);
        assertThat(verdict(node, Finding.fail("wrong-result", AT_FAULT, "", "", RecommendedAction.NONE))
                        .open())
                .isEmpty();
        assertThat(verdict(node, Finding.unknown("not-readable", Subject.NODE, "", ""))
                        .open())
                .containsExactly("gpumem (not-readable)");
    }
}
