package dev.gpuwarden.core.compute;

/**
 * A measured all-reduce.
 *
 * @param bytes size of the message
 * @param ranks number of GPUs
 * @param seconds time of one operation by the clock of the GPU that began last, since the others waited for it; the median of several
 */
public record AllReduceRate(long bytes, int ranks, double seconds) {

    /** Below this an operation is mostly the start of kernels and the steps of the ring: some hundred microseconds. */
    private static final double START_SECONDS = 1e-3;

    /** Returns the bus bandwidth in gigabytes (1e9) a second. */
    public double busBandwidth() {
        return BusBandwidth.ofAllReduce(bytes, ranks, seconds);
    }

    /** Returns whether the time is a number above zero; a clock that stands still gives an infinite rate. */
    public boolean isPlausible() {
        return Double.isFinite(seconds) && seconds > 0;
    }

    /** Returns whether a low bandwidth is evidence: the size is that of the limits, or the time is more than that of a start. */
    public boolean isEvidence(long fullBytes) {
        return bytes >= fullBytes || seconds >= START_SECONDS;
    }
}
