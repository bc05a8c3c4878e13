package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.RecoveryAction;
import java.util.List;

/** The recovery action that the driver itself requests for a GPU. */
@AutoService(HealthCheck.class)
public final class RecoveryActionCheck implements HealthCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-recovery-action", "GPU", "The driver asks for no recovery action.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return RecoveryAction.judge(context.node());
    }
}
