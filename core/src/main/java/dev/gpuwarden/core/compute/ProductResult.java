package dev.gpuwarden.core.compute;

import java.util.List;

/**
 * The result of a measurement of products.
 *
 * @param operationsPerSecond additions and multiplications over all rounds, by the GPU's clock
 * @param rounds in their order
 */
public record ProductResult(double operationsPerSecond, List<Round> rounds) {

    public ProductResult {
        rounds = List.copyOf(rounds);
    }

    /** Returns all rounds' comparisons with the closed form. */
    public Verification verification() {
        return rounds.stream().map(Round::verification).reduce(Verification.NOTHING, Verification::and);
    }

    /**
     * One product.
     *
     * @param digest of the product's bits
     */
    public record Round(double operationsPerSecond, Digest digest, Verification verification) {}
}
