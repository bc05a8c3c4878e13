package dev.gpuwarden.checks.verify;

import dev.gpuwarden.core.check.GpuLoad;

/** The checks of GPUs after their repair, as they are written in settings. */
public enum RepairChecks {
    passive(GpuLoad.NONE),
    invasive(GpuLoad.INVASIVE);

    private final GpuLoad most;

    RepairChecks(GpuLoad most) {
        this.most = most;
    }

    /** Returns the largest load of these checks. */
    public GpuLoad most() {
        return most;
    }
}
