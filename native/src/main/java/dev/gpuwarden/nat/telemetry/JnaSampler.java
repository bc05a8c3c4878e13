package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The plan's interpreter in Java. A call is slower than from C, and allocates nothing either. */
final class JnaSampler extends PlanSampler {

    private final Map<Cadence, StepRunner> runners = new EnumMap<>(Cadence.class);

    JnaSampler(Target target, Map<Cadence, BoundPlan> plans, Optional<ProfileReader> profile) {
        super(target, profile);
        plans.forEach((cadence, plan) -> runners.put(cadence, new StepRunner(plan)));
    }

    @Override
    BoundPlan plan(Cadence cadence) {
        return runner(cadence).plan();
    }

    @Override
    boolean run(Cadence cadence, long device, GpuFrame frame) {
        return runner(cadence).run(cadence, device, frame);
    }

    @Override
    void free() {
        runners.values().forEach(StepRunner::free);
    }

    private StepRunner runner(Cadence cadence) {
        return Objects.requireNonNull(runners.get(cadence));
    }
}
