package dev.gpuwarden.daemon.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.check.CheckEnvironment;
import dev.gpuwarden.daemon.check.CheckPlan;
import dev.gpuwarden.daemon.check.GpuGrants;
import dev.gpuwarden.daemon.metrics.NodeFixture;
import dev.gpuwarden.daemon.node.NodePaths;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoadChecksTest {

    /** A check that passes on each GPU that it may work on. */
    private static final class Worker implements HealthCheck {
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

    private static List<String> codes(Optional<Refusal> refusal) {
        CheckEnvironment around = CheckEnvironment.once(
                NodeFixture.node(3),
                BoardLimits.shipped(),
                Expectations.NONE,
                NodePaths.of(Path.of("/none"), Path.of("/none"), Path.of("/none")));
        LoadChecks checks = new LoadChecks(CheckPlan.of(List.of(new Worker())), around, () -> refusal);
        String second = NodeFixture.identity(1).selector();
        List<CheckResult> results = checks.run(
                Set.of(new Worker().info().id()),
                gpu -> gpu.identity().selector().equals(second));
        return results.get(0).findings().stream().map(Finding::code).toList();
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
}
