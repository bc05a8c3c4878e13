package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.Optional;

/** The plan's interpreter in C: one call for each GPU and cadence. */
final class JniSampler extends PlanSampler {

    private final BoundPlan fast;
    private final BoundPlan slow;
    private final NativeMemory fastImage;
    private final NativeMemory slowImage;

    JniSampler(Target target, BoundPlan fast, BoundPlan slow, Optional<ProfileReader> profile) {
        super(target, profile);
        this.fast = fast;
        this.slow = slow;
        this.fastImage = PlanImage.of(fast, Cadence.FAST);
        this.slowImage = PlanImage.of(slow, Cadence.SLOW);
    }

    @Override
    BoundPlan plan(Cadence cadence) {
        return cadence == Cadence.FAST ? fast : slow;
    }

    @Override
    boolean run(Cadence cadence, long device, GpuFrame frame) {
        NativeMemory image = cadence == Cadence.FAST ? fastImage : slowImage;
        return JniLibrary.run(image.address(), device, frame.buffer());
    }

    @Override
    void free() {
        fastImage.close();
        slowImage.close();
    }
}
