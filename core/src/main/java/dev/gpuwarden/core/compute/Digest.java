package dev.gpuwarden.core.compute;

import java.util.Locale;

/**
 * Two sums of the 8-byte words of a result. Equal results have equal digests on all GPUs, and one wrong bit changes both.
 *
 * @param sum modulo 2^64
 * @param xor exclusive or
 */
public record Digest(long sum, long xor) {

    public static final Digest NOTHING = new Digest(0, 0);

    public Digest and(Digest other) {
        return new Digest(sum + other.sum, xor ^ other.xor);
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%016x%016x", sum, xor);
    }
}
