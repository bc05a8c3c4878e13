package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.GpuCount;
import java.util.List;

/** A comparison of the driver's GPUs with those of the PCI bus. */
@AutoService(HealthCheck.class)
public final class GpuCountCheck implements HealthCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-count", "GPU", "The driver lists every NVIDIA GPU that the PCI bus shows.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return GpuCount.judge(context.node());
    }
}
