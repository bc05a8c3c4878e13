package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The plan's interpreter in C: one call for each GPU and cadence. */
final class JniSampler extends PlanSampler {

    private final Map<Cadence, BoundPlan> plans;
    private final Map<Cadence, NativeMemory> images = new EnumMap<>(Cadence.class);

    JniSampler(Target target, Map<Cadence, BoundPlan> plans, Optional<ProfileReader> profile) {
        super(target, profile);
        this.plans = plans;
        plans.forEach((cadence, plan) -> images.put(cadence, PlanImage.of(plan, cadence)));
    }

    @Override
    BoundPlan plan(Cadence cadence) {
        return Objects.requireNonNull(plans.get(cadence));
    }

    @Override
    boolean run(Cadence cadence, long device, GpuFrame frame) {
        NativeMemory image = Objects.requireNonNull(images.get(cadence));
        return JniLibrary.run(image.address(), device, frame.buffer());
    }

    @Override
    void free() {
        images.values().forEach(NativeMemory::close);
    }
}
