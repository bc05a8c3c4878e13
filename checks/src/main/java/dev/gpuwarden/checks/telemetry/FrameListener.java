package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import java.util.function.Supplier;

/**
 * A listener for one GPU's readings, called on the thread that read them. It must be quick, must not block, and must
 * not allocate.
 */
@FunctionalInterface
public interface FrameListener {

    /** Supplies listeners that do nothing. */
    Supplier<FrameListener> NONE = () -> (gpu, cadence, frame) -> {};

    /** @param frame frame with fresh readings of this cadence; read-only, and valid only until this call returns */
    void published(GpuIdentity gpu, Cadence cadence, GpuFrame frame);
}
