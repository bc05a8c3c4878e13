package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.nat.nvml.NvmlLibrary;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** A factory of samplers of one driver, all with the same interpreter. */
public final class Samplers {

    private final NvmlLibrary library;
    private final Map<Cadence, BoundPlan> plans = new EnumMap<>(Cadence.class);
    private final boolean profiling;
    private final boolean jni;
    private final String description;

    private Samplers(NvmlLibrary library, boolean jni, boolean profiling, String description) {
        this.library = library;
        for (Cadence cadence : Cadence.values()) {
            plans.put(cadence, BoundPlan.of(cadence, library, profiling));
        }
        this.profiling = profiling && ProfileReader.opening(library) == Absence.PENDING;
        this.jni = jni;
        this.description = description;
    }

    public static Samplers of(NvmlLibrary library, SamplerPath path, boolean profiling) {
        if (path == SamplerPath.JNA) {
            return new Samplers(library, false, profiling, "jna (as configured)");
        }
        Optional<String> whyNot = JniLibrary.whyNot();
        return new Samplers(
                library,
                whyNot.isEmpty(),
                profiling,
                whyNot.map(why -> "jna (" + why + ")").orElse("jni"));
    }

    /** Returns "jni" or "jna", with the reason where it is the slower one. */
    public String description() {
        return description;
    }

    public Driver.Sampler sampler(Target target) {
        Optional<ProfileReader> profile = profiling ? Optional.of(new ProfileReader(library)) : Optional.empty();
        return jni ? new JniSampler(target, plans, profile) : new JnaSampler(target, plans, profile);
    }
}
