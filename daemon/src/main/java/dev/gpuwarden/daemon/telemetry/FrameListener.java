package dev.gpuwarden.daemon.telemetry;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import java.util.function.Supplier;

/**
 * Is told of one GPU's readings as they are published, on the thread that read them: it must be quick, wait for nothing, and
 * allocate nothing.
 */
@FunctionalInterface
public interface FrameListener {

    /** Nobody listens. */
    Supplier<FrameListener> NONE = () -> (gpu, cadence, frame) -> {};

    /** @param frame with fresh readings of this cadence; only to be read, and only until this call returns */
    void published(GpuIdentity gpu, Cadence cadence, GpuFrame frame);
}
