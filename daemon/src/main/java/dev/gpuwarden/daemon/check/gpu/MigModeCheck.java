package dev.gpuwarden.daemon.check.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.OptionalLong;

/**
 * Checks that no change of MIG mode waits for a reset (nvml.h, nvmlDeviceGetMigMode). Until then the configured and the
 * actual partitions differ.
 */
@AutoService(HealthCheck.class)
public final class MigModeCheck implements HealthCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-mig-mode", "GPU", "No change of MIG mode waits for a reset.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return EachGpu.answering(context.node(), MigModeCheck::evaluate);
    }

    static Finding evaluate(GpuSnapshot gpu) {
        FindingBuilder builder = new FindingBuilder(gpu);
        OptionalLong mode = builder.read(GpuMetric.MIG_MODE);
        OptionalLong pending = builder.read(GpuMetric.MIG_MODE_PENDING);
        if (mode.isPresent() && pending.isPresent()) {
            if (mode.getAsLong() == pending.getAsLong()) {
                builder.pass("mig-mode-settled", "MIG mode is " + word(mode.getAsLong()));
            } else {
                builder.warn(
                        "mig-mode-pending",
                        "expected one MIG mode, but it is " + word(mode.getAsLong()) + " now and "
                                + word(pending.getAsLong()) + " after the next reset",
                        "reset the GPU, or set the mode back with nvidia-smi -mig",
                        new Measurement("mig_mode_pending", pending.getAsLong(), Long.toString(mode.getAsLong())));
            }
        }
        return builder.finding();
    }

    private static String word(long mode) {
        return mode == 1 ? "on" : "off";
    }
}
