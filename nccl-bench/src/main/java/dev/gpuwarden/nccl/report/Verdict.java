package dev.gpuwarden.nccl.report;

import java.util.List;
import java.util.OptionalDouble;

/**
 * The result of a run.
 *
 * @param outOfBounds checks of data that found wrong elements, by thread
 * @param meanBus mean bandwidth of the bus of all rows, in and out of place, in gigabytes a second
 * @param required the bandwidth that NCCL_TESTS_MIN_BW requires; empty where it does not
 */
public record Verdict(long outOfBounds, double meanBus, OptionalDouble required) {

    /** The part of the required bandwidth that is enough. */
    private static final double TOLERANCE = 0.9;

    /** Exit codes of nccl-tests. */
    public static final int OK = 0;

    public static final int INTERNAL = 1;
    public static final int COMPUTE = 2;
    public static final int COLLECTIVES = 3;
    public static final int TIMEOUT = 4;
    public static final int NOT_IMPLEMENTED = 5;
    public static final int USAGE = 6;
    public static final int FAILED = 7;

    /** @param halves results of all rows, in and out of place */
    public static Verdict of(List<Row.Half> halves, long outOfBounds, OptionalDouble required) {
        double mean = halves.stream()
                .mapToDouble(half -> half.bandwidth().bus())
                .average()
                .orElse(Double.NaN);
        return new Verdict(outOfBounds, mean, required);
    }

    /** Returns whether the bandwidth is as required; a mean that is no number is not. */
    public boolean isFastEnough() {
        return required.isEmpty() || meanBus >= required.getAsDouble() * TOLERANCE;
    }

    public int exitCode() {
        return outOfBounds == 0 && isFastEnough() ? OK : FAILED;
    }
}
