package dev.gpuwarden.core.compute;

import java.util.function.LongUnaryOperator;

/**
 * The bits of elements that a right GPU writes, computed without a GPU. The formulas are those of kernel.h, pattern.cu and daxpy.cu of the
 * native module. Pure.
 */
public final class ExpectedElements {

    // daxpy.cu: the limit of the vectors' integers.
    private static final int VECTOR_LIMIT = 1000;

    private ExpectedElements() {}

    /**
     * Returns the words of a memory pattern by their index.
     *
     * @param value the constant, the word to rotate, the address of the first word, or the seed
     */
    public static LongUnaryOperator words(MemoryPattern pattern, long value) {
        return switch (pattern) {
            case CONSTANT -> index -> value;
            case WALKING -> index -> Long.rotateLeft(value, (int) (index % Long.SIZE));
            case ADDRESS -> index -> value + index * Long.BYTES;
            case RANDOM -> index -> random(value, index);
        };
    }

    /**
     * Returns the bits of y by their index after rounds of y = factor x + y.
     *
     * @param factor an integer, so that results are exact
     */
    public static LongUnaryOperator vector(long seed, long rounds, double factor) {
        return index -> Double.doubleToRawLongBits(
                rounds * factor * integer(2 * seed, index, VECTOR_LIMIT) + integer(2 * seed + 1, index, VECTOR_LIMIT));
    }

    /** Returns the digest of neighbouring elements. A million takes about five milliseconds. */
    public static Digest digest(LongUnaryOperator elements, long first, long count) {
        long sum = 0;
        long xor = 0;
        for (long i = first; i < first + count; i++) {
            long word = elements.applyAsLong(i);
            sum += word;
            xor ^= word;
        }
        return new Digest(sum, xor);
    }

    /** Returns an integer of -limit to limit. */
    static long integer(long seed, long index, int limit) {
        return Long.remainderUnsigned(random(seed, index), 2L * limit + 1) - limit;
    }

    /** Returns the output of SplitMix64 (Steele, Lea, Flood 2014) for the state at an index. */
    public static long random(long seed, long index) {
        long z = seed + (index + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
