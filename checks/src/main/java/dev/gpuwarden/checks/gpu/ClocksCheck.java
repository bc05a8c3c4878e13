package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Clocks that heat or the hardware's own protection hold down. The power limit (0x4), idling, settings and sync boost
 * are ordinary and never reported; the power brake has a check of its own.
 *
 * <p>WARN at most: DCGM monitors (10, 43), Autopilot warns; gpud alone requests an inspection of the hardware.
 */
@AutoService(HealthCheck.class)
public final class ClocksCheck extends GpuCheck {

    private static final Slowdown HARDWARE_THERMAL = new Slowdown(
            "hw-thermal-slowdown",
            "hardware thermal slowdown",
            Slowdown.HW_THERMAL,
            0,
            "hardware_thermal_share",
            "check air flow, fans and thermal contact");
    private static final Slowdown HARDWARE = new Slowdown(
            "hw-slowdown",
            "hardware slowdown that is neither heat nor power brake",
            Slowdown.HW_SLOWDOWN,
            Slowdown.HW_THERMAL | Slowdown.POWER_BRAKE,
            "hardware_slowdown_share",
            "it draws more power than the board can take: check power cables and supplies");
    private static final Slowdown SOFTWARE_THERMAL = new Slowdown(
            "sw-thermal-slowdown",
            "the driver's thermal slowdown",
            Slowdown.SW_THERMAL,
            0,
            "software_thermal_share",
            "check air flow and fans");

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-clocks", "GPU", "Clocks are not held down by heat or the hardware's protection.")
                .damped(3, 4);
    }

    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong now = builder.read(GpuMetric.CLOCK_EVENT_REASONS);
        Optional<Limit> hardware = builder.limit("hardware_slowdown_share");
        Optional<Limit> software = builder.limit("software_thermal_share");
        if (now.isPresent() && hardware.isPresent() && software.isPresent()) {
            boolean held = HARDWARE_THERMAL.evaluate(builder, now.getAsLong(), hardware.get());
            held |= HARDWARE.evaluate(builder, now.getAsLong(), hardware.get());
            held |= SOFTWARE_THERMAL.evaluate(builder, now.getAsLong(), software.get());
            if (!held) {
                builder.pass("clocks-free", "clocks are not held down");
            }
        }
    }
}
