package dev.gpuwarden.checks.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.verify.Verification.Repair;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.OpenVerification;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenChecksTest {

    private static final Instant NOW = Instant.parse("2026-11-28T05:00:00Z");
    private static final Entity GPU = Entity.gpu("GPU-455d8f70-2051-db6c-0430-ffc457bff834");
    private static final Subject AT_FAULT = new Subject("GPU 3", List.of(GPU));
    private static final Subject OTHER = Subject.of(Entity.gpu("GPU-00000000-0000-0000-0000-000000000000"));
    private static final CheckInfo RESULTS = CheckInfo.of("gpu-results", "GPU", "");

    private final FaultTable table = new FaultTable();
    private final HealthEvent pending = pending(Repair.BOOT);

    private static HealthEvent pending(Repair repair) {
        HealthEvent xid = HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName("gpu-7")
                .fatal(true)
                .errorCodes(List.of("79"))
                .entities(List.of(GPU))
                .generated(NOW)
                .build();
        return Verification.after(repair, List.of(xid), NOW).get(0);
    }

    /** Applies the changes after a run with these findings, and returns how many there are. */
    private int run(Finding... findings) {
        CheckResult result = CheckResult.of(RESULTS, NOW, Duration.ZERO, List.of(findings));
        List<HealthEvent> changes = OpenChecks.changes(pending, table.faults(), List.of(result), NOW);
        changes.forEach(event -> table.apply(event, 1, NOW));
        return changes.size();
    }

    private List<Fault> named() {
        return table.faults().stream()
                .filter(fault -> fault.key().errorCode().equals("gpu-results"))
                .toList();
    }

    @Test
    void openCheckIsNamedWithItsReasonAndItsActionAndEndsWithThePart() {
        table.apply(pending, 1, NOW);
        Finding held = Finding.skipped("gpu-held", AT_FAULT, "GPU 3: held by process 42");
        assertThat(run(held)).isEqualTo(1);
        assertThat(named()).singleElement().satisfies(fault -> {
            assertThat(Verification.isPending(fault)).isTrue();
            assertThat(Verification.isCause(fault.cause())).isFalse();
            assertThat(fault.cause().fatal()).isFalse();
            assertThat(OpenVerification.isHeld(fault.cause()))
                    .as("the cluster may free the GPU")
                    .isTrue();
            assertThat(fault.cause().message())
                    .isEqualTo("gpu-results (gpu-held) has not passed since the boot: GPU 3: held by process 42");
        });
        assertThat(run(Finding.skipped("gpu-held", AT_FAULT, "GPU 3: held by process 43")))
                .as("the same reason is no other event")
                .isZero();

        run(Finding.fail("wrong-result", AT_FAULT, "bit 3 is wrong", "replace it", RecommendedAction.RUN_FIELDDIAG));
        assertThat(named()).singleElement().satisfies(fault -> {
            assertThat(fault.cause().fatal()).isTrue();
            assertThat(OpenVerification.isHeld(fault.cause())).isFalse();
            assertThat(fault.cause().action()).isEqualTo(RecommendedAction.RUN_FIELDDIAG);
            assertThat(fault.cause().message()).contains("(wrong-result)", "bit 3 is wrong; replace it");
        });

        table.apply(Verification.verified(pending, "verified", NOW), 2, NOW);
        assertThat(table.faults()).isEmpty();
    }

    @Test
    void passedAndLastingAndForeignFindingsAreNotNamed() {
        table.apply(pending, 1, NOW);
        run(Finding.unknown("not-measured", AT_FAULT, "", ""));
        assertThat(named()).hasSize(1);
        run(
                Finding.skipped("not-measured", AT_FAULT, "no CUDA library"),
                Finding.skipped("gpu-held", OTHER, "held by process 42"));
        assertThat(named()).isEmpty();
        assertThat(table.faults()).as("the part is still pending").hasSize(1);
    }

    @Test
    void nameWithoutItsPendingPartEnds() {
        table.apply(pending, 1, NOW);
        run(Finding.skipped("gpu-held", AT_FAULT, ""));
        assertThat(OpenChecks.withoutPart(List.of(pending), table.faults(), NOW))
                .isEmpty();
        table.apply(Verification.end(pending, "set healthy", NOW), 2, NOW);
        OpenChecks.withoutPart(List.of(), table.faults(), NOW).forEach(event -> table.apply(event, 3, NOW));
        assertThat(table.faults()).isEmpty();
    }

    @Test
    void onlyAGpuAfterABootMustCompute() {
        assertThat(Verification.mustCompute(pending)).isTrue();
        assertThat(Verification.mustCompute(pending(Repair.RESET))).isFalse();
        assertThat(Verification.mustCompute(
                        pending.toBuilder().entities(List.of()).build()))
                .isFalse();
    }
}
