package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.GpuReadings;
import java.util.List;

/** A check of the readings of GPUs that answer. */
@AutoService(HealthCheck.class)
public final class GpuReadingsCheck implements HealthCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-readings", "GPU", "Readings of GPUs that answer are present, fresh and plausible.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return EachGpu.answering(context.node(), GpuReadings::judge);
    }
}
