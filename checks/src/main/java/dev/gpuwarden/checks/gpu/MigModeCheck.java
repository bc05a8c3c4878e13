package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.OptionalLong;

/**
 * Checks that no change of MIG mode waits for a reset (nvml.h, nvmlDeviceGetMigMode). Until then the configured and the
 * actual partitions differ.
 */
@AutoService(HealthCheck.class)
public final class MigModeCheck extends GpuCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-mig-mode", "GPU", "No change of MIG mode waits for a reset.");
    }

    @Override
    void evaluate(FindingBuilder builder) {
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
    }

    private static String word(long mode) {
        return mode == 1 ? "on" : "off";
    }
}
