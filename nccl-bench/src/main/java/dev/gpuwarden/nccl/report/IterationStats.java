package dev.gpuwarden.nccl.report;

import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Statistics of iterations, in microseconds. Percentiles have the rank of nccl-tests: the median of an even number is the upper one.
 *
 * @param deviationPercent standard deviation by mean
 */
public record IterationStats(
        double least,
        double most,
        double mean,
        double p50,
        double p95,
        double p99,
        double deviation,
        double deviationPercent) {

    /** Nanoseconds are stored, up to an hour, with four digits. */
    private static final long LONGEST_NANOS = 3_600_000_000_000L;

    private static final int DIGITS = 4;

    /** @param seconds at least one */
    public static IterationStats of(List<Double> seconds) {
        Histogram histogram = new Histogram(LONGEST_NANOS, DIGITS);
        for (double one : seconds) {
            histogram.recordValue(Math.min(LONGEST_NANOS, Math.max(0, Math.round(one * 1e9))));
        }
        double mean = seconds.stream().mapToDouble(one -> one).average().orElseThrow();
        double variance = seconds.stream()
                .mapToDouble(one -> (one - mean) * (one - mean))
                .average()
                .orElseThrow();
        double deviation = Math.sqrt(variance);
        int count = seconds.size();
        // The histogram returns the largest value that it does not distinguish from the recorded one.
        double most = seconds.stream().mapToDouble(one -> one).max().orElseThrow() * 1e6;
        return new IterationStats(
                seconds.stream().mapToDouble(one -> one).min().orElseThrow() * 1e6,
                most,
                mean * 1e6,
                Math.min(most, ranked(histogram, count / 2 + 1, count)),
                Math.min(most, ranked(histogram, rank(count, 95), count)),
                Math.min(most, ranked(histogram, rank(count, 99), count)),
                deviation * 1e6,
                mean > 0 ? deviation / mean * 100 : 0);
    }

    /** Returns the nearest rank of a percentile, from 1. */
    private static int rank(int count, int percentile) {
        return Math.min(count, (count * percentile + 99) / 100);
    }

    /** Half a rank less than the whole: the histogram rounds up, and a rounding error must not reach the next rank. */
    private static double ranked(Histogram histogram, int rank, int count) {
        return histogram.getValueAtPercentile(100.0 * (rank - 0.5) / count) / 1e3;
    }
}
