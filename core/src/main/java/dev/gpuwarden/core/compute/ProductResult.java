package dev.gpuwarden.core.compute;

import java.util.List;
import java.util.Optional;

/**
 * The result of a measurement of products.
 *
 * @param operationsPerSecond additions and multiplications over all rounds, by the GPU's clock
 * @param rounds in their order
 * @param producer the program that computed the products
 */
public record ProductResult(double operationsPerSecond, List<Round> rounds, Producer producer) {

    public static final String OWN_KERNEL = "own kernel";

    public ProductResult {
        rounds = List.copyOf(rounds);
    }

    /** Creates the result of the own kernel. */
    public ProductResult(double operationsPerSecond, List<Round> rounds) {
        this(operationsPerSecond, rounds, new Producer(OWN_KERNEL, Optional.empty()));
    }

    /**
     * The program that computed products.
     *
     * @param name the own kernel, or the library with its version
     * @param why the reason for the own kernel where a library was requested
     */
    public record Producer(String name, Optional<String> why) {}

    /** Returns the same by another producer. */
    public ProductResult by(String name, Optional<String> why) {
        return new ProductResult(operationsPerSecond, rounds, new Producer(name, why));
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
