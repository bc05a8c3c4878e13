package dev.gpuwarden.daemon.check.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.GpuAnswers;
import java.util.List;

/** Checks that GPUs answer. */
@AutoService(HealthCheck.class)
public final class GpuStateCheck implements HealthCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-state", "GPU", "Each GPU answers: it is not hung, lost, gone or in need of a reset.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return GpuAnswers.judge(context.node());
    }
}
