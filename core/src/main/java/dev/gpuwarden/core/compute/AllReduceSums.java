package dev.gpuwarden.core.compute;

/**
 * The comparison of one GPU's sums with {@link AllReducePattern}, after the last operation of each size.
 *
 * @param sizes messages that were compared; 0 if the driver or the GPU is too old for the kernel that compares
 * @param wrongSizes messages with a wrong element
 * @param bytes size of the first such message; 0 if there is none
 * @param wrong wrong elements of that message
 */
public record AllReduceSums(int sizes, int wrongSizes, long bytes, long wrong) {

    public static final AllReduceSums NOT_COMPARED = new AllReduceSums(0, 0, 0, 0);

    /** Returns the same with one more message. */
    public AllReduceSums and(long messageBytes, long wrongElements) {
        if (wrongElements == 0) {
            return new AllReduceSums(sizes + 1, wrongSizes, bytes, wrong);
        }
        return wrongSizes > 0
                ? new AllReduceSums(sizes + 1, wrongSizes + 1, bytes, wrong)
                : new AllReduceSums(sizes + 1, 1, messageBytes, wrongElements);
    }

    public boolean isCompared() {
        return sizes > 0;
    }
}
