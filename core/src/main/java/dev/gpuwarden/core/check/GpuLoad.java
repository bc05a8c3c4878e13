package dev.gpuwarden.core.check;

/** The load that a check puts on GPUs. */
public enum GpuLoad {
    /** None: the check evaluates what was read before. */
    NONE,
    /** At most 100 ms of a GPU in each run, beside a workload too. */
    LIGHT,
    /** Seconds to minutes of a GPU that has no workload. */
    INVASIVE
}
