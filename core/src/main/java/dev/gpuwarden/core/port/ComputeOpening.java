package dev.gpuwarden.core.port;

/** The outcome of opening a compute driver. */
public sealed interface ComputeOpening {

    /** The outcome of a run that does not open one. */
    ComputeOpening NONE = new Unavailable(DriverOpening.Reason.LIBRARY_MISSING, 0, "this run has no CUDA driver");

    record Opened(ComputeDriver driver) implements ComputeOpening {}

    /**
     * No compute driver.
     *
     * @param reason the missing part
     * @param code the library's return code (cuda.h, CUresult); 0 where it was never called
     * @param detail file or function and its answer, in words
     */
    record Unavailable(DriverOpening.Reason reason, int code, String detail) implements ComputeOpening {}
}
