package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Checks that the machine's power supply does not throttle the GPU. It asserts the power brake (nvml.h,
 * nvmlClocksEventReasonHwPowerBrakeSlowdown) when it cannot deliver. WARN: NVSentinel stores it, and acts on it only if
 * configured to.
 */
@AutoService(HealthCheck.class)
public final class PowerBrakeCheck extends GpuCheck {

    private static final Slowdown BRAKE = new Slowdown(
            "power-brake",
            "the power brake",
            Slowdown.POWER_BRAKE,
            0,
            "power_brake_share",
            "check the machine's power supplies and its power cap; the BMC's log has details");

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-power-brake", "GPU", "The machine's power supply does not throttle GPUs.")
                .damped(3, 4);
    }

    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong now = builder.read(GpuMetric.CLOCK_EVENT_REASONS);
        Optional<Limit> limit = builder.limit("power_brake_share");
        if (now.isPresent() && limit.isPresent() && !BRAKE.evaluate(builder, now.getAsLong(), limit.get())) {
            builder.pass("power-brake-off", "the power brake is off");
        }
    }
}
