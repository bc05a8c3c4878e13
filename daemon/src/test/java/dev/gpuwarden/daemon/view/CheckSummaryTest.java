package dev.gpuwarden.daemon.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.MeasuredGpus;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.health.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CheckSummaryTest {

    private static final Subject GPU = new Subject("GPU 6 (0000:c0:00.0)", List.of(Entity.gpu("GPU-6")));
    private static final Finding GOOD = Finding.pass("good", GPU, "good");
    private static final Finding HOT = Finding.warn("temperature-high", GPU, "hot", "look");
    private static final Finding SLOW = Finding.warn("hw-thermal-slowdown", GPU, "slow", "look");
    private static final Finding HELD = Finding.skipped("gpu-held", GPU, "GPU 6 (0000:c0:00.0): held by job 7");

    private static CheckSummary summary(boolean all, List<Fault> faults, boolean partial, Finding... findings) {
        List<CheckResult> results = List.of(
                CheckResult.of(CheckInfo.of("gpumem", "GPU", "s."), Instant.EPOCH, Duration.ZERO, List.of(findings)));
        return new CheckSummary(results, all, true, faults, MeasuredGpus.of(results, Set.of("gpumem")), partial);
    }

    private static List<Fault> fatal() {
        FaultTable faults = new FaultTable();
        faults.apply(
                HealthEvent.of("other", "GPU", "SysLogsXIDError")
                        .fatal(true)
                        .action(RecommendedAction.RESTART_BM)
                        .errorCodes(List.of("79"))
                        .entities(List.of(Entity.gpu("GPU-1")))
                        .build(),
                1,
                Instant.EPOCH);
        return List.copyOf(faults.faults());
    }

    @Test
    void warningsAreInTheVerdict() {
        assertThat(summary(true, List.of(), false, GOOD, HOT, SLOW).lines())
                .containsExactly("verdict: fit, with 2 warnings: GPU 6: temperature-high, hw-thermal-slowdown"
                        + " (1 check passed, run by the daemon)");
    }

    @Test
    void someChecksAreNoVerdictOnTheNode() {
        CheckSummary one = summary(false, fatal(), false, GOOD);
        assertThat(one.verdict()).isEqualTo(Verdict.FIT);
        assertThat(one.lines())
                .containsExactly(
                        "gpumem: passed, run by the daemon (this is not the verdict of the node: it has 1 fatal"
                                + " fault, gpuwarden status)");
    }

    /** Faults of the kernel log are no findings of the daemon's checks. */
    @Test
    void allChecksBesideAFatalFaultAreNotFit() {
        CheckSummary all = summary(true, fatal(), false, GOOD);
        assertThat(all.verdict()).isEqualTo(Verdict.NOT_FIT);
        assertThat(all.lines())
                .containsExactly("verdict: not fit (0 failing findings, 1 fatal fault: gpuwarden status)");
    }

    @Test
    void aResultWithoutAGpuIsTakenOnRequestAlone() {
        CheckSummary left = summary(false, List.of(), false, GOOD, HELD);
        assertThat(left.verdict()).isEqualTo(Verdict.UNDECIDED);
        assertThat(left.lines())
                .startsWith("measured: 0 of 1 GPU", "  not measured: GPU 6: held by job 7")
                .last()
                .asString()
                .startsWith("gpumem: INCOMPLETE (measured: 0 of 1 GPU); free the GPUs and run it again");
        CheckSummary taken = summary(true, List.of(), true, GOOD, HELD);
        assertThat(taken.verdict()).isEqualTo(Verdict.FIT);
        assertThat(taken.lines())
                .last()
                .asString()
                .startsWith("verdict: fit, as far as measured (0 of 1 GPU) (1 check");
    }
}
