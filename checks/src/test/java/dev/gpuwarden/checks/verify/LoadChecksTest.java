package dev.gpuwarden.checks.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.GpuGrants;
import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.verify.Verification.Repair;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class LoadChecksTest {

    private static final HealthEvent PENDING = Verification.after(
                    Repair.BOOT,
                    List.of(HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                            .nodeName("gpu-7")
                            .fatal(true)
                            .action(RecommendedAction.RESTART_BM)
                            .entities(Subject.of(NodeFixture.identity(1)).entities())
                            .generated(Instant.parse("2026-11-29T12:00:00Z"))
                            .build()),
                    Instant.parse("2026-11-29T12:05:00Z"))
            .get(0);

    /** A check that passes on each GPU that it may work on. */
    private static class Worker implements HealthCheck {
        @Override
        public CheckInfo info() {
            return CheckInfo.of("gpu-results", "GPU", "");
        }

        @Override
        public GpuLoad load() {
            return GpuLoad.INVASIVE;
        }

        @Override
        public List<Finding> run(CheckContext context) {
            try (GpuGrants grants =
                    GpuGrants.request(context, this, context.node().gpus())) {
                return EachGpu.answering(context.node(), gpu -> finding(gpu, grants.refusal(gpu)));
            }
        }

        private static Finding finding(GpuSnapshot gpu, Optional<Refusal> refusal) {
            Subject subject = Subject.of(gpu.identity());
            return refusal.map(why -> Finding.skipped(why.code(), subject, why.text()))
                    .orElseGet(() -> Finding.pass("right", subject, ""));
        }
    }

    /** Returns what is open after a run of a check for the repaired GPU. */
    private static List<String> open(HealthCheck check) {
        LoadAttempts attempts = new LoadAttempts();
        attempts.ended(PENDING, results(check, Optional.empty()), 0);
        return Verification.verdict(PENDING, List.of(check.info()), attempts.results())
                .open();
    }

    private static List<String> codes(Optional<Refusal> refusal) {
        return results(new Worker(), refusal).get(0).findings().stream()
                .map(Finding::code)
                .toList();
    }

    private static List<CheckResult> results(HealthCheck check, Optional<Refusal> refusal) {
        CheckEnvironment around = CheckEnvironment.once(
                NodeFixture.node(3),
                BoardLimits.shipped(),
                Expectations.NONE,
                NodePaths.of(Path.of("/none"), Path.of("/none"), Path.of("/none")));
        LoadChecks checks = new LoadChecks(CheckPlan.of(List.of(check)), around, () -> refusal);
        String second = NodeFixture.identity(1).selector();
        return checks.run(
                Set.of(check.info().id()), gpu -> gpu.identity().selector().equals(second));
    }

    @Test
    void onlyTheRepairedGpuGetsWork() {
        assertThat(codes(Optional.empty())).containsExactly("not-repaired", "right", "not-repaired");
    }

    @Test
    void noGpuGetsWorkWhereTheMemoryLimitOfTheDaemonIsTooLow() {
        assertThat(codes(Optional.of(new Refusal("memory-limit", ""))))
                .containsExactly("not-repaired", "memory-limit", "not-repaired");
    }

    @Test
    void runThatThrowsOrMissesTheGpuHasNotPassed() {
        assertThat(open(new Worker())).isEmpty();
        assertThat(open(new Worker() {
                    @Override
                    public List<Finding> run(CheckContext context) {
                        throw new IllegalStateException("no driver");
                    }
                }))
                .containsExactly("gpu-results (check-failed)");
        assertThat(open(new Worker() {
                    @Override
                    public List<Finding> run(CheckContext context) {
                        return super.run(context).subList(2, 3);
                    }
                }))
                .as("the GPU is gone")
                .containsExactly("gpu-results (no-result)");
    }

    @Test
    void runThatHangsHasNotPassed() {
        CountDownLatch end = new CountDownLatch(1);
        try {
            assertThat(open(new Worker() {
                        @Override
                        public Duration deadline() {
                            return Duration.ofMillis(50);
                        }

                        @Override
                        public List<Finding> run(CheckContext context) {
                            while (end.getCount() > 0) {
                                LockSupport.parkNanos(1_000_000);
                            }
                            return super.run(context);
                        }
                    }))
                    .containsExactly("gpu-results (check-hung)");
        } finally {
            end.countDown();
        }
    }
}
