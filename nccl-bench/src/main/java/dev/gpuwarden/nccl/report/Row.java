package dev.gpuwarden.nccl.report;

import dev.gpuwarden.nccl.plan.Collective.Bandwidth;
import dev.gpuwarden.nccl.plan.Plan.Series;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One line of the table.
 *
 * @param bytes size of the message
 * @param count elements, as the library counts them
 */
public record Row(Series series, long bytes, long count, Half outOfPlace, Half inPlace) {

    /**
     * The result in one of the two kinds of buffers.
     *
     * @param seconds time of an operation, or of its enqueueing
     * @param wrong wrong elements of all ranks; empty where data was not checked
     * @param iterations statistics of single iterations; empty where they were not measured
     */
    public record Half(double seconds, Bandwidth bandwidth, OptionalLong wrong, Optional<IterationTimes> iterations) {}

    /**
     * Times of single iterations.
     *
     * @param all in seconds, in order, those that were skipped too
     * @param perProcess the same for each process, where there are several; else empty
     */
    public record IterationTimes(List<Double> all, int skipped, List<List<Double>> perProcess) {}
}
