package dev.gpuwarden.core.compute;

/**
 * The product that a right GPU computes, in integers and without a GPU (matrix.h of the native module has the same formulas):
 * A[i][k] = u(i) + s(k) and B[k][j] = t(k) + v(j), so C[i][j] = u(i) T + n u(i) v(j) + Q + v(j) S. Pure.
 */
public final class ExpectedProduct {

    // matrix.h: the order of the vectors, and the limits of their integers.
    private static final int U = 0;
    private static final int S = 1;
    private static final int T = 2;
    private static final int V = 3;
    private static final int FP64_LIMIT = 500;
    private static final int MIXED_LIMIT = 4;

    private ExpectedProduct() {}

    /** Returns the digest of all cells. It takes n² steps: 0.2 s for n = 8192. */
    public static Digest digest(ProductKind kind, int n, long seed) {
        int limit = kind == ProductKind.FP64 ? FP64_LIMIT : MIXED_LIMIT;
        long sumS = 0;
        long sumT = 0;
        long sumST = 0;
        long[] v = new long[n];
        for (int k = 0; k < n; k++) {
            long s = integer(seed, S, k, limit);
            long t = integer(seed, T, k, limit);
            sumS += s;
            sumT += t;
            sumST += s * t;
            v[k] = integer(seed, V, k, limit);
        }
        long sum = 0;
        long xor = 0;
        for (int i = 0; i < n; i++) {
            long u = integer(seed, U, i, limit);
            long row = u * sumT + sumST;
            long column = n * u + sumS;
            if (kind == ProductKind.FP64) {
                for (int j = 0; j < n; j++) {
                    long word = Double.doubleToRawLongBits(row + column * v[j]);
                    sum += word;
                    xor ^= word;
                }
            } else {
                for (int j = 0; j < n; j += 2) {
                    long word = word(row + column * v[j], row + column * v[j + 1]);
                    sum += word;
                    xor ^= word;
                }
            }
        }
        return new Digest(sum, xor);
    }

    /** Returns two neighbouring cells of FP32 as a word of the GPU's memory, which is little-endian. */
    private static long word(long low, long high) {
        return Integer.toUnsignedLong(Float.floatToRawIntBits(low))
                | (long) Float.floatToRawIntBits(high) << Integer.SIZE;
    }

    /** Returns an integer of -limit to limit. */
    private static long integer(long seed, int vector, long index, int limit) {
        return Long.remainderUnsigned(random(4 * seed + vector, index), 2L * limit + 1) - limit;
    }

    /** Returns the output of SplitMix64 (Steele, Lea, Flood 2014) for the state at an index. */
    private static long random(long seed, long index) {
        long z = seed + (index + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
