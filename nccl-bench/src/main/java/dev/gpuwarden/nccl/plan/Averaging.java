package dev.gpuwarden.nccl.plan;

import java.util.List;

/** The choice of a time among those of several threads: option `-a`, by ordinal. */
public enum Averaging {
    RANK0,
    AVERAGE,
    LEAST,
    MOST;

    /** @param times at least one */
    public double of(List<Double> times) {
        return switch (this) {
            case RANK0 -> times.get(0);
            case AVERAGE -> times.stream().mapToDouble(time -> time).sum() / times.size();
            case LEAST -> times.stream().mapToDouble(time -> time).min().orElseThrow();
            case MOST -> times.stream().mapToDouble(time -> time).max().orElseThrow();
        };
    }
}
