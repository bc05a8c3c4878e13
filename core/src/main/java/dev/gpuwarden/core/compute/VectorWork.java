package dev.gpuwarden.core.compute;

import java.time.Duration;

/**
 * The size of a measurement of y = a x + y with vectors in FP64, which the bandwidth of memory bounds.
 *
 * @param count elements of a vector; two vectors are taken
 * @param rounds launches that are measured together
 * @param seed of the vectors
 * @param deadline after which the measurement is left behind
 */
public record VectorWork(long count, int rounds, long seed, Duration deadline) {

    /** The numbers of IBM Autopilot's `gpumem`, whose limit is in use: two vectors of 1 GiB, 20 rounds. */
    public static final long USUAL_COUNT = 128L << 20;

    public static final int USUAL_ROUNDS = 20;
    private static final long MOST_COUNT = 1L << 36;
    private static final int MOST_ROUNDS = 100_000;

    public VectorWork {
        if (count < 1 || count > MOST_COUNT || rounds < 1 || rounds > MOST_ROUNDS) {
            throw new IllegalArgumentException("expected 1 to " + MOST_COUNT + " elements and 1 to " + MOST_ROUNDS
                    + " rounds, seen " + count + " and " + rounds);
        }
    }

    /** Returns the bytes that a round reads and writes: x and y are read, y is written. */
    public long bytesPerRound() {
        return 3 * Double.BYTES * count;
    }
}
