package dev.gpuwarden.core.port;

/** The outcome of opening a compute driver. The code of a missing one is a CUresult (cuda.h). */
public sealed interface ComputeOpening permits ComputeOpening.Opened, DriverOpening.Unavailable {

    record Opened(ComputeDriver driver) implements ComputeOpening {}
}
