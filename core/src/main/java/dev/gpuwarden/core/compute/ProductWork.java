package dev.gpuwarden.core.compute;

import java.time.Duration;

/**
 * The size of a measurement of products of two n by n matrices. The same kind, n and seed give the same bits on all GPUs.
 *
 * @param n rows and columns, a multiple of 128 up to 65536
 * @param rounds products; each is measured and verified, and the measurement can be stopped between two of them. With n = 8192 in FP64 a
 *     round takes 0.1 s at 10 TFLOP/s, and 4 s at the 0.25 TFLOP/s of a T4
 * @param seed of the factors
 * @param deadline after which the measurement is left behind
 * @param byLibrary whether NVIDIA's library computes products in FP64, if it is there. Its bits are those of the own kernel as long as all
 *     numbers are exact, but GPUs are compared by the own kernel alone
 */
public record ProductWork(ProductKind kind, int n, int rounds, long seed, Duration deadline, boolean byLibrary) {

    private static final int STEP = 128;
    private static final int MOST_N = 65_536;
    private static final int MOST_ROUNDS = 10_000;

    public ProductWork {
        if (n < STEP || n > MOST_N || n % STEP != 0) {
            throw new IllegalArgumentException(
                    "rows of a product: expected a multiple of " + STEP + " up to " + MOST_N + ", seen " + n);
        }
        if (rounds < 1 || rounds > MOST_ROUNDS) {
            throw new IllegalArgumentException("rounds: expected 1 to " + MOST_ROUNDS + ", seen " + rounds);
        }
    }

    /** Creates work for the own kernel. */
    public ProductWork(ProductKind kind, int n, int rounds, long seed, Duration deadline) {
        this(kind, n, rounds, seed, deadline, false);
    }

    /** Returns the same work for NVIDIA's library. */
    public ProductWork withLibrary() {
        return new ProductWork(kind, n, rounds, seed, deadline, true);
    }

    public long cells() {
        return (long) n * n;
    }

    /** Returns the additions and multiplications of a product. */
    public double operationsPerRound() {
        return 2.0 * n * n * n;
    }
}
