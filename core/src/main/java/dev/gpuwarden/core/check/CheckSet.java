package dev.gpuwarden.core.check;

import java.util.Locale;
import java.util.Optional;

/** The sets of checks with a load on GPUs that a daemon runs by itself. The load of a check decides its set. */
public enum CheckSet {
    /** Short measurements, beside workloads too. */
    PERIODIC(GpuLoad.LIGHT),
    /** Measurements of GPUs that no pod and no process holds. */
    INVASIVE(GpuLoad.INVASIVE);

    private final GpuLoad load;

    CheckSet(GpuLoad load) {
        this.load = load;
    }

    /** Returns the load of its checks. */
    public GpuLoad load() {
        return load;
    }

    /** Returns the set of checks with this load; empty for those without a load, which run at their own intervals. */
    public static Optional<CheckSet> of(GpuLoad load) {
        for (CheckSet set : values()) {
            if (set.load == load) {
                return Optional.of(set);
            }
        }
        return Optional.empty();
    }

    /** Returns the name as a metric label: lower case. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
