package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.nat.nvml.NvmlLibrary;

/** Makes samplers of one driver, all on the same path. */
public final class Samplers {

    private final BoundPlan fast;
    private final BoundPlan slow;
    private final String description;

    private Samplers(NvmlLibrary library, String description) {
        this.fast = BoundPlan.of(Cadence.FAST, library);
        this.slow = BoundPlan.of(Cadence.SLOW, library);
        this.description = description;
    }

    public static Samplers of(NvmlLibrary library, SamplerPath path) {
        return new Samplers(library, path == SamplerPath.JNA ? "jna (as configured)" : "jna");
    }

    /** "jni" or "jna", with the reason where it is the slower one. */
    public String description() {
        return description;
    }

    public Driver.Sampler sampler(Target target) {
        return new JnaSampler(target, fast, slow);
    }
}
