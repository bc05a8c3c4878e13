package dev.gpuwarden.core.compute;

/**
 * The comparison of one GPU's sums with {@link AllReducePattern}, after the last operation of each size.
 *
 * @param sizes messages that were compared; 0 if the driver or the GPU is too old for the kernel that compares
 * @param wrongSizes messages with a wrong element
 * @param bytes size of the first such message; 0 if there is none
 * @param wrong wrong elements of that message
 * @param planted errors of the host, one for each message
 */
public record AllReduceSums(int sizes, int wrongSizes, long bytes, long wrong, PlantedErrors planted) {

    public static final AllReduceSums NOT_COMPARED = new AllReduceSums(0, 0, 0, 0, PlantedErrors.NONE);

    /** Returns the same with one more message. Its planted error was found. */
    public AllReduceSums and(long messageBytes, long wrongElements) {
        PlantedErrors errors = planted.and(PlantedErrors.FOUND);
        if (wrongElements == 0) {
            return new AllReduceSums(sizes + 1, wrongSizes, bytes, wrong, errors);
        }
        return wrongSizes > 0
                ? new AllReduceSums(sizes + 1, wrongSizes + 1, bytes, wrong, errors)
                : new AllReduceSums(sizes + 1, 1, messageBytes, wrongElements, errors);
    }

    /** Returns the same with one more message, whose comparison missed the planted error. */
    public AllReduceSums andMissed(String which) {
        return new AllReduceSums(sizes + 1, wrongSizes, bytes, wrong, planted.and(PlantedErrors.missed(which)));
    }

    public boolean isCompared() {
        return sizes > 0;
    }
}
