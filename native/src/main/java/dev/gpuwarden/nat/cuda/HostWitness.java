package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.ExpectedElements;
import dev.gpuwarden.core.compute.HostDigest;
import java.util.function.LongUnaryOperator;
import java.util.random.RandomGenerator;

/** Compares the digest of a part of the GPU's memory with that of the right content, which this process computes. */
final class HostWitness {

    /** About a millisecond of the host, and 16 blocks of a launch. */
    private static final long MOST = 1L << 18;

    private final DigestReader reader;
    private final long elements;
    private final long part;
    private final RandomGenerator random;

    /**
     * @param elements of 8 bytes each
     * @param random chooses the part
     */
    HostWitness(Resources resources, Workspace space, long elements, RandomGenerator random) throws CudaException {
        this.elements = elements;
        this.part = Math.min(MOST, elements);
        this.random = random;
        this.reader = new DigestReader(resources, space, part);
    }

    /** Blocks until the digest is there. */
    HostDigest of(long address, LongUnaryOperator expected) throws CudaException {
        long first = random.nextLong(elements - part + 1);
        return new HostDigest(
                first, part, ExpectedElements.digest(expected, first, part), reader.of(address + first * Long.BYTES));
    }
}
