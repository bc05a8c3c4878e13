package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.OptionalLong;

/** Checks that the driver stays loaded without clients (DCGM 29, CONFIG; NVIDIA, Driver Persistence). */
@AutoService(HealthCheck.class)
public final class PersistenceModeCheck extends GpuCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of(
                "gpu-persistence-mode", "GPU", "The driver keeps each GPU initialised while it has no client.");
    }

    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong mode = builder.read(GpuMetric.PERSISTENCE_MODE);
        if (mode.isPresent() && mode.getAsLong() == 1) {
            builder.pass("persistence-on", "persistence mode is on");
        } else if (mode.isPresent()) {
            builder.warn(
                    "persistence-mode-off",
                    "expected persistence mode on, but it is off: without a client the GPU is torn down, and ECC"
                            + " counts and settings go with it",
                    "enable the service nvidia-persistenced; 'gpuwarden gpu-reset --restore' shows a reset that was"
                            + " killed and has left it off",
                    new Measurement("persistence_mode", 0, "1"));
        }
    }
}
