package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.nat.nvml.NvmlLibrary;
import java.util.Optional;

/** Makes samplers of one driver, all on the same path. */
public final class Samplers {

    private final BoundPlan fast;
    private final BoundPlan slow;
    private final boolean jni;
    private final String description;

    private Samplers(NvmlLibrary library, boolean jni, String description) {
        this.fast = BoundPlan.of(Cadence.FAST, library);
        this.slow = BoundPlan.of(Cadence.SLOW, library);
        this.jni = jni;
        this.description = description;
    }

    public static Samplers of(NvmlLibrary library, SamplerPath path) {
        if (path == SamplerPath.JNA) {
            return new Samplers(library, false, "jna (as configured)");
        }
        Optional<String> whyNot = JniLibrary.whyNot();
        return new Samplers(
                library,
                whyNot.isEmpty(),
                whyNot.map(why -> "jna (" + why + ")").orElse("jni"));
    }

    /** "jni" or "jna", with the reason where it is the slower one. */
    public String description() {
        return description;
    }

    public Driver.Sampler sampler(Target target) {
        return jni ? new JniSampler(target, fast, slow) : new JnaSampler(target, fast, slow);
    }
}
