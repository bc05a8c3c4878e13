package dev.gpuwarden.core.compute;

import java.time.Duration;

/**
 * The sizes and bounds of a measurement of all-reduces. Sizes double.
 *
 * @param leastBytes the first size, a multiple of 4
 * @param mostBytes the last size; each GPU holds two buffers of it
 * @param longest time of one operation by the host's clock after which sizes grow no more
 * @param iterations measured operations of each size at most, in as many {@code longest} as fit
 * @param deadline after which the measurement ends without a result
 */
public record AllReduceWork(long leastBytes, long mostBytes, Duration longest, int iterations, Duration deadline) {

    /** Returns the same work with one size alone. */
    public AllReduceWork only(long bytes, Duration until) {
        return new AllReduceWork(bytes, bytes, longest, iterations, until);
    }

    /** Returns the measured operations of a size whose operation took this long by the host's clock. */
    public int iterations(double seconds) {
        double fitting = longest.toNanos() / 1e9 / seconds;
        return (int) Math.max(1, Math.min(iterations, fitting));
    }

    /** Returns whether a size is the last one. */
    public boolean endsAt(long bytes, double seconds) {
        return bytes > mostBytes / 2 || seconds >= longest.toNanos() / 1e9;
    }
}
