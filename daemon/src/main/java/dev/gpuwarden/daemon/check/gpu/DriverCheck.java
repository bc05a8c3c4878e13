package dev.gpuwarden.daemon.check.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.DriverHealth;
import dev.gpuwarden.core.health.Finding;
import java.util.List;

/** Checks that the driver and its library work. */
@AutoService(HealthCheck.class)
public final class DriverCheck implements HealthCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("driver", "NODE", "The driver is loaded and lists its GPUs.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return List.of(DriverHealth.judge(context.node()));
    }
}
