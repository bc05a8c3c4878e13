package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import java.util.Optional;

/** The plan's interpreter in Java. A call is slower than from C, and allocates nothing either. */
final class JnaSampler extends PlanSampler {

    private final StepRunner fast;
    private final StepRunner slow;

    JnaSampler(Target target, BoundPlan fast, BoundPlan slow, Optional<ProfileReader> profile) {
        super(target, profile);
        this.fast = new StepRunner(fast);
        this.slow = new StepRunner(slow);
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
        fast.free();
        slow.free();
    }

    private StepRunner runner(Cadence cadence) {
        return cadence == Cadence.FAST ? fast : slow;
    }
}
